"""Who may see what, decided before anything is looked up.

A refusal depends on the viewer's rights and on what was asked alone, never on what exists: forbidden
and missing objects give the same answer at the same cost.
"""

from console.kube.gvr import GVR
from console.ui.access import Access
from console.ui.kind import ResourceKind, Scope


class Denied(Exception):
    """The viewer may not do `verb` to `gvr`: in `namespace`, or anywhere if that is ""."""

    def __init__(self, verb: str, gvr: GVR, namespace: str = "") -> None:
        self.verb = verb
        self.gvr = gvr
        self.namespace = namespace
        super().__init__(f"{verb} {gvr.qualified} in {namespace or 'any namespace'}")


def readable_namespaces(
    kind: ResourceKind, access: Access, wanted: tuple[str, ...] = ()
) -> frozenset[str] | None:
    """The namespaces whose objects of this kind the viewer may list; None for all of them.

    `wanted` are the namespaces that were asked for; one that is not allowed refuses the whole, so that
    a list never silently lacks what its address names. Raises `Denied`.
    """
    if kind.scope is Scope.CLUSTER:
        if not access.can("list", kind.gvr):
            raise Denied("list", kind.gvr)
        return None
    allowed = access.namespaces_where("list", kind.gvr)
    if allowed is None:
        return None
    for namespace in wanted:
        if namespace not in allowed:
            raise Denied("list", kind.gvr, namespace)
    if not allowed:
        raise Denied("list", kind.gvr)
    return allowed
