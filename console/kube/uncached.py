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


class SecretMeta(Projection, frozen=True, gc=False):
    """The parts of a Secret that a list shows. `keys` is the number of its values."""

    type: str
    keys: int
    immutable: bool


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


class _ReadShown(Object, gc=False):
    type: str = ""
    keys: int = 0
    immutable: bool = False


class _Version(msgspec.Struct, gc=False):
    resourceVersion: str = ""


class _Nameless(msgspec.Struct, gc=False):
    """An object without a name, which decoders reject: it is counted as undecodable and not stored."""

    metadata: _Version


_whole = msgspec.json.Decoder(_Secret)
_nameless = msgspec.json.Decoder(_Nameless)


def redact_secret(raw: msgspec.Raw) -> msgspec.Raw:
    """Return the Secret without values and annotations."""
    try:
        secret = _whole.decode(raw)
    except msgspec.ValidationError:
        return msgspec.Raw(msgspec.json.encode(_nameless.decode(raw)))
    keys = len(secret.data or ())
    shown = _Shown(secret.metadata, secret.type, keys, bool(secret.immutable))
    return msgspec.Raw(msgspec.json.encode(shown))


def _project(read: _ReadShown) -> SecretMeta:
    return SecretMeta(
        **basics(read.metadata), type=read.type, keys=read.keys, immutable=read.immutable
    )


@dataclass(frozen=True, slots=True)
class UncachedType:
    """`redact` removes secret values from an object, `decode` decodes the redacted object."""

    redact: Callable[[msgspec.Raw], msgspec.Raw]
    decode: Decode[Any]


UNCACHED: Mapping[GVR, UncachedType] = MappingProxyType(
    {SECRETS: UncachedType(redact_secret, decoder(_ReadShown, _project))}
)
