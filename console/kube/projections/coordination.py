"""Leases of leader elections and nodes."""

from datetime import datetime
from sys import intern

import msgspec

from console.kube.gvr import LEASES
from console.kube.projections.common import (
    Decoders,
    Object,
    Projection,
    basics,
    decoder,
    valid_time,
)


class Lease(Projection, frozen=True):
    """A Lease.

    `holder` is "" if the lease is not held. `seconds` is its duration after `renewed`.
    `transitions` is the number of changes of the holder.
    """

    holder: str
    renewed: datetime | None
    seconds: int
    transitions: int


class _Spec(msgspec.Struct, gc=False):
    holderIdentity: str | None = None
    renewTime: datetime | None = None
    leaseDurationSeconds: int | None = None
    leaseTransitions: int | None = None


class _Lease(Object):
    spec: _Spec | None = None


def _lease(item: _Lease) -> Lease:
    spec = item.spec or _Spec()
    return Lease(
        **basics(item.metadata),
        holder=intern(spec.holderIdentity or ""),
        renewed=valid_time(spec.renewTime),
        seconds=spec.leaseDurationSeconds or 0,
        transitions=spec.leaseTransitions or 0,
    )


DECODERS: Decoders = {LEASES: decoder(_Lease, _lease)}
