"""ConfigMaps and ServiceAccounts. For a ConfigMap, only keys and size are kept, not its values."""

from console.kube.gvr import CONFIG_MAPS, SERVICE_ACCOUNTS
from console.kube.projections.common import (
    Decoders,
    Object,
    Projection,
    Reference,
    annotation,
    basics,
    decoder,
)

#: KubeSphere: the project role that its controller binds to the service account.
ROLE_ANNOTATION = "iam.kubesphere.io/role"


class ConfigMap(Projection, frozen=True):
    """A ConfigMap. `keys` are those of `data` and `binaryData`, `size` is the bytes of all values."""

    keys: tuple[str, ...]
    size: int
    immutable: bool


class ServiceAccount(Projection, frozen=True):
    """A ServiceAccount.

    `secrets` and `pull_secrets` are names. `automount` is None if the pod decides.
    """

    secrets: tuple[str, ...]
    pull_secrets: tuple[str, ...]
    automount: bool | None
    role: str


class _ConfigMap(Object):
    data: dict[str, str] | None = None
    binaryData: dict[str, str] | None = None
    immutable: bool | None = None


class _ServiceAccount(Object):
    secrets: tuple[Reference, ...] | None = None
    imagePullSecrets: tuple[Reference, ...] | None = None
    automountServiceAccountToken: bool | None = None


def _config_map(item: _ConfigMap) -> ConfigMap:
    data, binary = item.data or {}, item.binaryData or {}
    size = sum(len(text.encode()) for text in data.values())
    size += sum(len(text.rstrip("=")) * 3 // 4 for text in binary.values())
    return ConfigMap(
        **basics(item.metadata),
        keys=tuple(sorted({*data, *binary})),
        size=size,
        immutable=bool(item.immutable),
    )


def _service_account(item: _ServiceAccount) -> ServiceAccount:
    return ServiceAccount(
        **basics(item.metadata),
        secrets=_names(item.secrets),
        pull_secrets=_names(item.imagePullSecrets),
        automount=item.automountServiceAccountToken,
        role=annotation(item.metadata, ROLE_ANNOTATION),
    )


def _names(references: tuple[Reference, ...] | None) -> tuple[str, ...]:
    return tuple(reference.name for reference in references or () if reference.name)


DECODERS: Decoders = {
    CONFIG_MAPS: decoder(_ConfigMap, _config_map),
    SERVICE_ACCOUNTS: decoder(_ServiceAccount, _service_account),
}
