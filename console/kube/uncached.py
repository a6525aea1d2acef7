"""Types that the shared cache never contains, because listing their objects reveals secret values.

They are read on behalf of the user (`console.kube.livelist`) and redacted before anything else
sees them. Neither the values of a Secret nor its annotations reach a store: kubectl's
`last-applied-configuration` annotation repeats the values.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

import msgspec

from console.kube.gvr import GVR, SECRETS
from console.kube.projections.common import Object, OwnerReference, Projection, basics, decoder
from console.kube.store import Decode

#: Maximum keys of a Secret that are kept with their sizes.
MOST_KEYS = 100


class SecretMeta(Projection, frozen=True, gc=False):
    """The parts of a Secret that are shown. `keys` is the number of its values and `size` their
    total size in bytes. `sizes` are the first keys by name and the sizes of their values.
    """

    type: str
    keys: int
    size: int
    immutable: bool
    sizes: tuple[tuple[str, int], ...] = ()


class _Meta(msgspec.Struct, omit_defaults=True, gc=False):
    """Metadata without the fields that may repeat secret values."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    creationTimestamp: datetime | None = None
    deletionTimestamp: datetime | None = None
    labels: dict[str, str] | None = None
    ownerReferences: tuple[OwnerReference, ...] | None = None


class _Secret(msgspec.Struct, gc=False):
    """https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/secret-v1/"""

    metadata: _Meta
    type: str = ""
    data: dict[str, msgspec.Raw] | None = None
    immutable: bool | None = None


class _Shown(msgspec.Struct, omit_defaults=True, gc=False):
    metadata: _Meta
    type: str = ""
    keys: int = 0
    immutable: bool = False
    #: Total bytes of the values.
    size: int = 0
    sizes: tuple[tuple[str, int], ...] = ()


class _ReadShown(Object, gc=False):
    type: str = ""
    keys: int = 0
    size: int = 0
    immutable: bool = False
    sizes: tuple[tuple[str, int], ...] = ()


class _Version(msgspec.Struct, gc=False):
    resourceVersion: str = ""


class _Nameless(msgspec.Struct, gc=False):
    """An object without a name, which decoders reject: it is counted as undecodable and not stored."""

    metadata: _Version


_whole = msgspec.json.Decoder(_Secret)
_nameless = msgspec.json.Decoder(_Nameless)


def _size(value: msgspec.Raw) -> int:
    """Return the number of bytes of a value, which is a Base64 text in JSON."""
    encoded = bytes(value).strip(b'"')
    return len(encoded) * 3 // 4 - encoded[-2:].count(b"=") if encoded != b"null" else 0


def redact_secret(raw: msgspec.Raw) -> msgspec.Raw:
    """Return the Secret without values and annotations."""
    try:
        secret = _whole.decode(raw)
    except msgspec.ValidationError:
        return msgspec.Raw(msgspec.json.encode(_nameless.decode(raw)))
    sizes = sorted((key, _size(value)) for key, value in (secret.data or {}).items())
    shown = _Shown(
        secret.metadata,
        secret.type,
        keys=len(sizes),
        immutable=bool(secret.immutable),
        size=sum(size for _key, size in sizes),
        sizes=tuple(sizes[:MOST_KEYS]),
    )
    return msgspec.Raw(msgspec.json.encode(shown))


def _project(read: _ReadShown) -> SecretMeta:
    return SecretMeta(
        **basics(read.metadata),
        type=read.type,
        keys=read.keys,
        size=read.size,
        immutable=read.immutable,
        sizes=read.sizes,
    )


@dataclass(frozen=True, slots=True)
class UncachedType:
    """`redact` removes secret values from an object, `decode` decodes the redacted object."""

    redact: Callable[[msgspec.Raw], msgspec.Raw]
    decode: Decode[Any]


UNCACHED: Mapping[GVR, UncachedType] = MappingProxyType(
    {SECRETS: UncachedType(redact_secret, decoder(_ReadShown, _project))}
)
