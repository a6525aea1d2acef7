"""Projections: the fields of each kind that the cache keeps uncompressed, as small frozen structs.

`DECODERS` contains the decoder of every type that the cache supports. It merges the `DECODERS`
of all modules of this package. Each type must be declared only once.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any

from console.kube.gvr import GVR
from console.kube.projections.common import Decoders
from console.kube.projections.pod import Pod
from console.kube.projections.tenancy import GlobalRoleBinding, Subject, User
from console.kube.store import Decode


def _collected() -> Decoders:
    found: dict[GVR, Decode[Any]] = {}
    for info in iter_modules(__path__, f"{__name__}."):
        module = import_module(info.name)
        declared: Decoders = getattr(module, "DECODERS", {})
        twice = found.keys() & declared.keys()
        if twice:
            raise TypeError(
                f"{info.name} declares types that another module declares: {sorted(twice)}"
            )
        found.update(declared)
    return MappingProxyType(found)


DECODERS = _collected()

__all__ = ["DECODERS", "GlobalRoleBinding", "Pod", "Subject", "User"]
