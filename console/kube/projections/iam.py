"""Users and their platform roles (group iam.kubesphere.io)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from console.kube.gvr import GLOBAL_ROLE_BINDINGS, GVR, USERS
from console.kube.projections.meta import ObjectMeta, utc
from console.kube.store import Decode


class User(msgspec.Struct, frozen=True, gc=False):
    """`groups` is what the object says, which grants nothing. The password hash is not in here."""

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


class _User(msgspec.Struct, gc=False):
    metadata: ObjectMeta
    spec: _UserSpec | None = None
    status: _UserStatus | None = None


class _RoleRef(msgspec.Struct, gc=False):
    kind: str = ""
    name: str = ""


class _Binding(msgspec.Struct, gc=False):
    metadata: ObjectMeta
    roleRef: _RoleRef | None = None
    subjects: tuple[Subject, ...] | None = None


_user_decoder = msgspec.json.Decoder(_User)
_binding_decoder = msgspec.json.Decoder(_Binding)


def decode_user(raw: bytes | msgspec.Raw) -> tuple[User, str, msgspec.Raw]:
    value = _user_decoder.decode(raw)
    meta, spec = value.metadata, value.spec or _UserSpec()
    projection = User(
        name=meta.name,
        uid=meta.uid,
        labels=meta.labels or {},
        annotations=meta.annotations or {},
        created=utc(meta.creationTimestamp),
        deleted=utc(meta.deletionTimestamp),
        email=spec.email,
        groups=spec.groups or (),
        state=(value.status and value.status.state) or "",
        has_password=bool(spec.password),
    )
    return projection, meta.resourceVersion, meta.managedFields


def decode_binding(raw: bytes | msgspec.Raw) -> tuple[GlobalRoleBinding, str, msgspec.Raw]:
    value = _binding_decoder.decode(raw)
    meta, role = value.metadata, value.roleRef or _RoleRef()
    projection = GlobalRoleBinding(
        name=meta.name,
        uid=meta.uid,
        labels=meta.labels or {},
        created=utc(meta.creationTimestamp),
        deleted=utc(meta.deletionTimestamp),
        role=role.name,
        role_kind=role.kind,
        subjects=value.subjects or (),
    )
    return projection, meta.resourceVersion, meta.managedFields


DECODERS: Mapping[GVR, Decode[Any]] = {USERS: decode_user, GLOBAL_ROLE_BINDINGS: decode_binding}
