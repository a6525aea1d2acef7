"""Which questions are answered only while the cache is known to follow the server."""

from console.kube.gvr import GVR

READS = frozenset({"get", "list", "watch"})
#: Reading these is acting, or reveals what must not be shown on old rights.
_SUBRESOURCES = frozenset({"attach", "exec", "log", "portforward", "proxy"})
_RESOURCES = frozenset({"secrets"})


def needs_live(verb: str, gvr: GVR, subresource: str) -> bool:
    return (
        verb not in READS
        or subresource in _SUBRESOURCES
        or (gvr.group == "" and gvr.resource in _RESOURCES)
    )
