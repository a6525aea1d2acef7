"""Roles and role bindings: those of Kubernetes, and KubeSphere's for the platform and workspaces.

They differ only in their scope. These projections are for lists; permissions are evaluated from
the original objects elsewhere. RoleBases are KubeSphere's templates for the initial roles of new
workspaces and projects.
"""

from sys import intern
from typing import Any

import msgspec

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLES,
    ROLE_BASES,
    ROLE_BINDINGS,
    ROLES,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
)
from console.kube.projections.common import (
    Decoders,
    Object,
    Present,
    Projection,
    Reference,
    Selector,
    annotation,
    basics,
    decoder,
    selector_text,
)
from console.kube.projections.namespace import WORKSPACE_LABEL

#: KubeSphere: "true" for role templates that roles are composed of, "false" for hidden ones.
TEMPLATE_LABEL = "iam.kubesphere.io/role-template"
ALIAS_ANNOTATION = "kubesphere.io/alias-name"
DESCRIPTION_ANNOTATION = "kubesphere.io/description"
CREATOR_ANNOTATION = "kubesphere.io/creator"


class Role(Projection, frozen=True):
    """A role.

    `rules` is the number of rules. `aggregated` is True if a controller combines the rules of
    other roles, which match one of the label selectors in `aggregates`. `template` is True for a
    KubeSphere role template. `workspace` is "" for other levels and for shared templates.
    """

    rules: int
    aggregated: bool
    aggregates: tuple[str, ...]
    template: bool
    alias: str
    description: str
    creator: str
    workspace: str


class Binding(Projection, frozen=True):
    """A role binding.

    Service accounts are `namespace/name`. Subjects of other kinds are in `others` as
    `Kind/name`.
    """

    role: str
    role_kind: str
    users: tuple[str, ...]
    groups: tuple[str, ...]
    service_accounts: tuple[str, ...]
    others: tuple[str, ...]
    workspace: str

    @property
    def subjects(self) -> tuple[str, ...]:
        """Return all subjects."""
        return (*self.users, *self.groups, *self.service_accounts, *self.others)


class _AggregationRule(msgspec.Struct, gc=False):
    clusterRoleSelectors: tuple[Selector, ...] | None = None


class _Role(Object):
    rules: tuple[Present, ...] | None = None
    aggregationRule: _AggregationRule | None = None


class _Binding(Object):
    roleRef: Reference | None = None
    subjects: tuple[Reference, ...] | None = None


def _role(item: _Role) -> Role:
    meta, labels = item.metadata, item.metadata.labels or {}
    selectors = (item.aggregationRule and item.aggregationRule.clusterRoleSelectors) or ()
    return Role(
        **basics(meta),
        rules=len(item.rules or ()),
        aggregated=item.aggregationRule is not None,
        aggregates=tuple(map(selector_text, selectors)),
        template=TEMPLATE_LABEL in labels,
        alias=annotation(meta, ALIAS_ANNOTATION),
        description=annotation(meta, DESCRIPTION_ANNOTATION),
        creator=annotation(meta, CREATOR_ANNOTATION),
        workspace=intern(labels.get(WORKSPACE_LABEL, "")),
    )


def _binding(item: _Binding) -> Binding:
    ref, subjects = item.roleRef or Reference(), item.subjects or ()
    # Same order as SubjectsStrings in Kubernetes' pkg/apis/rbac.
    known = ("User", "Group", "ServiceAccount")
    return Binding(
        **basics(item.metadata),
        role=intern(ref.name or ""),
        role_kind=intern(ref.kind or ""),
        users=tuple(s.name or "" for s in subjects if s.kind == "User"),
        groups=tuple(s.name or "" for s in subjects if s.kind == "Group"),
        service_accounts=tuple(s.path for s in subjects if s.kind == "ServiceAccount"),
        others=tuple(f"{s.kind}/{s.name}" for s in subjects if s.kind not in known),
        workspace=intern((item.metadata.labels or {}).get(WORKSPACE_LABEL, "")),
    )


_decode_role = decoder(_Role, _role)
_decode_binding = decoder(_Binding, _binding)


#: A RoleBase with this label is for projects.
PROJECT_SCOPE = "scope.kubesphere.io/namespace"


class RoleBase(Projection, frozen=True):
    """A RoleBase.

    `role_kind` is Role for projects and WorkspaceRole for workspaces. `role` is the name of the
    role and `rules` the number of its rules. The content is not validated by the server;
    malformed values are "" and 0.
    """

    role_kind: str
    role: str
    rules: int
    for_projects: bool


class _RoleBase(Object):
    role: Any = None


def _role_base(item: _RoleBase) -> RoleBase:
    role = item.role if isinstance(item.role, dict) else {}
    metadata = role.get("metadata")
    rules = role.get("rules")
    return RoleBase(
        **basics(item.metadata),
        role_kind=_text(role.get("kind")),
        role=_text(metadata.get("name") if isinstance(metadata, dict) else None),
        rules=len(rules) if isinstance(rules, list) else 0,
        for_projects=PROJECT_SCOPE in (item.metadata.labels or {}),
    )


def _text(found: object) -> str:
    return found if isinstance(found, str) else ""


DECODERS: Decoders = {
    **dict.fromkeys((ROLES, CLUSTER_ROLES, GLOBAL_ROLES, WORKSPACE_ROLES), _decode_role),
    **dict.fromkeys(
        (ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS, WORKSPACE_ROLE_BINDINGS), _decode_binding
    ),
    ROLE_BASES: decoder(_RoleBase, _role_base),
}
