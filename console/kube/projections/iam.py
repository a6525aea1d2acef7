"""Users and their platform role bindings (iam.kubesphere.io)."""

from datetime import datetime

import msgspec

from console.kube.gvr import GLOBAL_ROLE_BINDINGS, USERS
from console.kube.projections.common import Decoders, Object, as_utc, decoder


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

DECODERS: Decoders = {
    USERS: decoder(_User, _user),
    GLOBAL_ROLE_BINDINGS: decode_binding,
}
