"""The parts of a pod's projection that depend only on its spec.

They are shared by replicas and stay valid while the spec is unchanged.
"""

from sys import intern

import msgspec

from console.kube.interning import InternPool
from console.kube.projections import podspec
from console.kube.projections.reserved import Amounts, Reserved, Resources, reserved_of


class Parts(msgspec.Struct, frozen=True, gc=False):
    """Values derived from a pod's spec.

    `containers` and `inits` are counts. `sidecars` are the names of restartable init containers.
    `uses` are the referenced objects as `Kind/name` (see `console.kube.projections.podspec`).
    """

    containers: int
    inits: int
    sidecars: tuple[str, ...]
    images: tuple[str, ...]
    uses: tuple[str, ...]
    reserved: Reserved


class _Container(podspec.Container, gc=False):
    image: str = ""


class _Spec(podspec.PodSpec, gc=False):
    nodeName: str = ""
    containers: tuple[_Container, ...] | None = None
    initContainers: tuple[_Container, ...] | None = None
    resources: Resources | None = None
    overhead: Amounts | None = None


_decoder = msgspec.json.Decoder(_Spec)
_pool = InternPool()


def parts_of(raw: msgspec.Raw, pod: str) -> tuple[str, Parts]:
    """Return the node name and the parts of a spec. `pod` is the pod's name. Raise
    `msgspec.DecodeError`.
    """
    spec = _decoder.decode(raw) if raw else _Spec()
    containers, inits = spec.containers or (), spec.initContainers or ()
    everything = (*containers, *inits)
    parts = Parts(
        containers=len(containers),
        inits=len(inits),
        sidecars=tuple(c.name for c in inits if c.restartPolicy == "Always"),
        images=tuple(c.image for c in everything),
        uses=podspec.referenced_objects(spec, everything, pod),
        reserved=reserved_of(containers, inits, spec.resources, spec.overhead),
    )
    return intern(spec.nodeName), _pool.intern(parts)
