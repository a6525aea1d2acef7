"""What a pod's projection takes from its spec: the same for as long as the spec stays what it is.

Replicas have it in common, so it is kept once for all of them.
"""

from sys import intern

import msgspec

from console.kube.projections import podspec
from console.kube.projections.reserved import Amounts, Reserved, Resources, reserved_of
from console.kube.sharing import Pool


class Parts(msgspec.Struct, frozen=True, gc=False):
    """`containers` and `inits` are numbers; of the latter `sidecars` are those that stay, by name.

    `uses`: `Kind/name` of what is named, as `console.kube.projections.podspec` has it.
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
_pool = Pool()


def parts_of(raw: msgspec.Raw, pod: str) -> tuple[str, Parts]:
    """The node and the rest of the spec of a pod of that name. Raises `msgspec.DecodeError`."""
    spec = _decoder.decode(raw) if raw else _Spec()
    containers, inits = spec.containers or (), spec.initContainers or ()
    everything = (*containers, *inits)
    parts = Parts(
        containers=len(containers),
        inits=len(inits),
        sidecars=tuple(c.name for c in inits if c.restartPolicy == "Always"),
        images=tuple(c.image for c in everything),
        uses=podspec.uses(spec, everything, pod),
        reserved=reserved_of(containers, inits, spec.resources, spec.overhead),
    )
    return intern(spec.nodeName), _pool.one(parts)
