"""ConfigMaps and ServiceAccounts. What a ConfigMap holds is not in here, only how much of it there is."""

import msgspec

from console.kube.gvr import CONFIG_MAPS, SERVICE_ACCOUNTS
from console.kube.projections.common import (
    Decoders,
    Object,
    Projection,
    annotation,
    basics,
    decoder,
)

#: KubeSphere: the role of the project that its controller binds the account to.
ROLE_ANNOTATION = "iam.kubesphere.io/role"


class ConfigMap(Projection, frozen=True):
    """`keys` of `data` and `binaryData`; `size`: bytes of all their values."""

    keys: tuple[str, ...]
    size: int
    immutable: bool


class ServiceAccount(Projection, frozen=True):
    """`secrets` and `pull_secrets` are names. `automount` is None where the pod decides."""

    secrets: tuple[str, ...]
    pull_secrets: tuple[str, ...]
    automount: bool | None
    role: str


class _ConfigMap(Object):
    data: dict[str, str] | None = None
    binaryData: dict[str, str] | None = None
    immutable: bool | None = None


class _Reference(msgspec.Struct, gc=False):
    name: str = ""


class _ServiceAccount(Object):
    secrets: tuple[_Reference, ...] | None = None
    imagePullSecrets: tuple[_Reference, ...] | None = None
    automountServiceAccountToken: bool | None = None


def _config_map(item: _ConfigMap) -> ConfigMap:
    data, binary = item.data or {}, item.binaryData or {}
    size = sum(len(text.encode()) for text in data.values())
    size += sum(_decoded_size(text) for text in binary.values())
    return ConfigMap(
        **basics(item.metadata),
        keys=tuple(sorted({*data, *binary})),
        size=size,
        immutable=bool(item.immutable),
    )


def _decoded_size(base64: str) -> int:
    return len(base64.rstrip("=")) * 3 // 4


def _service_account(item: _ServiceAccount) -> ServiceAccount:
    return ServiceAccount(
        **basics(item.metadata),
        secrets=_names(item.secrets),
        pull_secrets=_names(item.imagePullSecrets),
        automount=item.automountServiceAccountToken,
        role=annotation(item.metadata, ROLE_ANNOTATION),
    )


def _names(references: tuple[_Reference, ...] | None) -> tuple[str, ...]:
    return tuple(reference.name for reference in references or () if reference.name)


DECODERS: Decoders = {
    CONFIG_MAPS: decoder(_ConfigMap, _config_map),
    SERVICE_ACCOUNTS: decoder(_ServiceAccount, _service_account),
}
