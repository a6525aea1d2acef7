"""KubeSphere users, workspaces, departments and login records (tenant.kubesphere.io,
iam.kubesphere.io).

The labels iam.kubesphere.io/{user-ref,group-ref,group-parent} reference other objects. The
annotations kubesphere.io/{alias-name,description,creator} are for display.
"""

from datetime import datetime
from sys import intern

import msgspec

from console.kube.gvr import (
    GLOBAL_ROLE_BINDINGS,
    GROUP_BINDINGS,
    GROUPS,
    LOGIN_RECORDS,
    USERS,
    WORKSPACE_QUOTAS,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from console.kube.projections.common import (
    Decoders,
    Object,
    ObjectMeta,
    Present,
    Projection,
    Reference,
    annotation,
    as_utc,
    basics,
    decoder,
    join_reason,
    terminating_or,
)
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.projections.roles import (
    ALIAS_ANNOTATION,
    CREATOR_ANNOTATION,
    DESCRIPTION_ANNOTATION,
)
from console.kube.status import Severity, Status


class User(msgspec.Struct, frozen=True, gc=False):
    """A KubeSphere user. `groups` comes from the object and grants nothing. The password hash is
    not kept.
    """

    name: str
    uid: str
    labels: dict[str, str]
    annotations: dict[str, str]
    created: datetime | None
    deleted: datetime | None
    email: str
    groups: tuple[str, ...]
    state: str
    has_password: bool
    namespace: str = ""


class Subject(msgspec.Struct, frozen=True, gc=False):
    kind: str = ""
    name: str = ""


class GlobalRoleBinding(msgspec.Struct, frozen=True, gc=False):
    name: str
    uid: str
    labels: dict[str, str]
    created: datetime | None
    deleted: datetime | None
    role: str
    role_kind: str
    subjects: tuple[Subject, ...]
    namespace: str = ""


class _UserSpec(msgspec.Struct, gc=False):
    email: str = ""
    groups: tuple[str, ...] | None = None
    password: str = ""


class _UserStatus(msgspec.Struct, gc=False):
    state: str | None = None


class _User(Object, gc=False):
    spec: _UserSpec | None = None
    status: _UserStatus | None = None


class _RoleRef(msgspec.Struct, gc=False):
    kind: str = ""
    name: str = ""


class _Binding(Object, gc=False):
    roleRef: _RoleRef | None = None
    subjects: tuple[Subject, ...] | None = None


def _user(item: _User) -> User:
    meta, spec = item.metadata, item.spec or _UserSpec()
    return User(
        name=meta.name,
        uid=meta.uid,
        labels=meta.labels or {},
        annotations=meta.annotations or {},
        created=as_utc(meta.creationTimestamp),
        deleted=as_utc(meta.deletionTimestamp),
        email=spec.email,
        groups=spec.groups or (),
        state=(item.status and item.status.state) or "",
        has_password=bool(spec.password),
    )


def _binding(item: _Binding) -> GlobalRoleBinding:
    meta, role = item.metadata, item.roleRef or _RoleRef()
    return GlobalRoleBinding(
        name=meta.name,
        uid=meta.uid,
        labels=meta.labels or {},
        created=as_utc(meta.creationTimestamp),
        deleted=as_utc(meta.deletionTimestamp),
        role=role.name,
        role_kind=role.kind,
        subjects=item.subjects or (),
    )


decode_binding = decoder(_Binding, _binding)


PARENT_LABEL = "iam.kubesphere.io/group-parent"
USER_LABEL, GROUP_LABEL = "iam.kubesphere.io/user-ref", "iam.kubesphere.io/group-ref"


class Workspace(Projection, frozen=True):
    """A Workspace or WorkspaceTemplate.

    `clusters` are the clusters a template names. `everywhere` is True if it uses a label
    selector instead. `isolated` is None if network isolation is not specified.
    """

    status: Status
    manager: str
    isolated: bool | None
    clusters: tuple[str, ...]
    everywhere: bool
    alias: str
    description: str
    creator: str


class WorkspaceQuota(Projection, frozen=True):
    """A quota for all projects of a workspace together. `hard` maps resources to quantities."""

    workspace: str
    hard: dict[str, str]


class Group(Projection, frozen=True):
    """A department.

    `title` is the display name, which KubeSphere stores in generateName. `parent` is the name of
    another group, or "" for a top-level department of the workspace.
    """

    title: str
    workspace: str
    parent: str


class GroupBinding(Projection, frozen=True):
    group: str
    users: tuple[str, ...]
    workspace: str


class LoginRecord(Projection, frozen=True):
    """A sign-in attempt at `created`."""

    status: Status
    user: str
    type: str
    provider: str
    source_ip: str
    user_agent: str


class _GroupMeta(ObjectMeta, gc=False):
    generateName: str | None = None


class _WorkspaceSpec(msgspec.Struct, gc=False):
    manager: str | None = None
    networkIsolation: bool | None = None


class _Workspace(Object):
    spec: _WorkspaceSpec | None = None


class _Template(msgspec.Struct, gc=False):
    spec: _WorkspaceSpec | None = None


class _Placement(msgspec.Struct, gc=False):
    clusters: tuple[Reference, ...] | None = None
    clusterSelector: Present | None = None


class _TemplateSpec(msgspec.Struct, gc=False):
    template: _Template | None = None
    placement: _Placement | None = None


class _WorkspaceTemplate(Object):
    spec: _TemplateSpec | None = None


class _Group(Object):
    metadata: _GroupMeta


class _QuotaBody(msgspec.Struct, gc=False):
    hard: dict[str, str] | None = None


class _QuotaSpec(msgspec.Struct, gc=False):
    selector: dict[str, str] | None = None
    quota: _QuotaBody | None = None


class _WorkspaceQuota(Object):
    spec: _QuotaSpec | None = None


class _GroupBinding(Object):
    groupRef: Reference | None = None
    users: tuple[str, ...] | None = None


class _LoginSpec(msgspec.Struct, gc=False):
    type: str | None = None
    provider: str | None = None
    sourceIP: str | None = None
    userAgent: str | None = None
    success: bool | None = None
    reason: str | None = None


class _LoginRecord(Object):
    spec: _LoginSpec | None = None


_ACTIVE = Status(Severity.OK, "Active")


def _workspace(item: _Workspace) -> Workspace:
    return _made(item.metadata, item.spec, _Placement())


def _workspace_template(item: _WorkspaceTemplate) -> Workspace:
    spec = item.spec or _TemplateSpec()
    template = spec.template or _Template()
    return _made(item.metadata, template.spec, spec.placement or _Placement())


def _made(meta: ObjectMeta, spec: _WorkspaceSpec | None, placement: _Placement) -> Workspace:
    spec = spec or _WorkspaceSpec()
    # Named clusters take precedence over a selector.
    clusters = tuple(cluster.name for cluster in placement.clusters or () if cluster.name)
    return Workspace(
        **basics(meta),
        status=terminating_or(meta, _ACTIVE),
        manager=intern(spec.manager or ""),
        isolated=spec.networkIsolation,
        clusters=clusters,
        everywhere=not clusters and placement.clusterSelector is not None,
        alias=annotation(meta, ALIAS_ANNOTATION),
        description=annotation(meta, DESCRIPTION_ANNOTATION),
        creator=annotation(meta, CREATOR_ANNOTATION),
    )


def _workspace_quota(item: _WorkspaceQuota) -> WorkspaceQuota:
    spec = item.spec or _QuotaSpec()
    return WorkspaceQuota(
        **basics(item.metadata),
        workspace=intern((spec.selector or {}).get(WORKSPACE_LABEL, "")),
        hard=(spec.quota and spec.quota.hard) or {},
    )


def _group(item: _Group) -> Group:
    labels = item.metadata.labels or {}
    alias = annotation(item.metadata, ALIAS_ANNOTATION)
    return Group(
        **basics(item.metadata),
        title=alias or (item.metadata.generateName or "").rstrip("-"),
        workspace=intern(labels.get(WORKSPACE_LABEL, "")),
        parent=intern(labels.get(PARENT_LABEL, "")),
    )


def _group_binding(item: _GroupBinding) -> GroupBinding:
    return GroupBinding(
        **basics(item.metadata),
        group=intern((item.groupRef and item.groupRef.name) or ""),
        users=item.users or (),
        workspace=intern((item.metadata.labels or {}).get(WORKSPACE_LABEL, "")),
    )


def _login_record(item: _LoginRecord) -> LoginRecord:
    spec = item.spec or _LoginSpec()
    return LoginRecord(
        **basics(item.metadata),
        status=_login_status(spec),
        user=intern((item.metadata.labels or {}).get(USER_LABEL, "")),
        type=intern(spec.type or ""),
        provider=intern(spec.provider or ""),
        source_ip=spec.sourceIP or "",
        user_agent=intern(join_reason(spec.userAgent, "")),
    )


def _login_status(spec: _LoginSpec) -> Status:
    why = join_reason(spec.reason, "")
    if spec.success:
        return Status(Severity.OK, "Succeeded", why)
    return Status(Severity.WARN, "Failed", why)


DECODERS: Decoders = {
    USERS: decoder(_User, _user),
    GLOBAL_ROLE_BINDINGS: decode_binding,
    WORKSPACES: decoder(_Workspace, _workspace),
    WORKSPACE_TEMPLATES: decoder(_WorkspaceTemplate, _workspace_template),
    WORKSPACE_QUOTAS: decoder(_WorkspaceQuota, _workspace_quota),
    GROUPS: decoder(_Group, _group),
    GROUP_BINDINGS: decoder(_GroupBinding, _group_binding),
    LOGIN_RECORDS: decoder(_LoginRecord, _login_record),
}
