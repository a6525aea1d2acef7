"""RuntimeClasses: https://kubernetes.io/docs/concepts/containers/runtime-class/"""

import msgspec

from console.kube.gvr import GVR
from console.kube.projections.common import Decoders, Object, Projection, basics, decoder

RUNTIME_CLASSES = GVR("node.k8s.io", "v1", "runtimeclasses")


class RuntimeClass(Projection, frozen=True):
    """A RuntimeClass. `overhead` is the overhead per pod, as a text like `cpu 250m` for each
    resource.
    """

    handler: str
    overhead: tuple[str, ...]


class _Overhead(msgspec.Struct, gc=False):
    podFixed: dict[str, str] | None = None


class _RuntimeClass(Object):
    handler: str = ""
    overhead: _Overhead | None = None


def _runtime_class(item: _RuntimeClass) -> RuntimeClass:
    fixed = (item.overhead and item.overhead.podFixed) or {}
    return RuntimeClass(
        **basics(item.metadata),
        handler=item.handler,
        overhead=tuple(f"{name} {amount}" for name, amount in sorted(fixed.items())),
    )


DECODERS: Decoders = {RUNTIME_CLASSES: decoder(_RuntimeClass, _runtime_class)}
