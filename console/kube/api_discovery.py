"""Resource types that kube-apiserver serves in one group version, from its discovery API.

https://kubernetes.io/docs/reference/using-api/api-concepts/#discovery-api
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from console.kube.errors import ServerError
from console.kube.gvr import GVR
from console.kube.messages import Message
from console.kube.store import UNREADABLE


class _Resource(msgspec.Struct):
    name: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...] = ()


class _ResourceList(msgspec.Struct):
    resources: tuple[_Resource, ...] = ()


@dataclass(frozen=True, slots=True)
class CreatableType:
    """A type whose objects can be created."""

    gvr: GVR
    namespaced: bool


def creatable_types(body: bytes, group: str, version: str) -> Mapping[str, CreatableType]:
    """Return the creatable types by kind. Raise `ServerError`."""
    try:
        found = msgspec.json.decode(body, type=_ResourceList)
    except UNREADABLE as error:
        why = Message("The response from the Kubernetes API is not a list of resource types")
        raise ServerError(502, why) from error
    return {
        one.kind: CreatableType(GVR(group, version, one.name), one.namespaced)
        for one in found.resources
        # A name with a slash is a subresource.
        if "/" not in one.name and "create" in one.verbs
    }
