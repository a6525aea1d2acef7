"""Addresses of the gateway, and the extensions of the ASGI scope with which the server offers what
ASGI has no messages for.
"""

from urllib.parse import unquote_to_bytes

#: An `console.gateway.upgrading.Upgrade`, for requests that ask to switch the protocol.
UPGRADE_EXTENSION = "quarterdeck.upgrade"
#: The verified client certificate (DER), or b"", on connections whose TLS the console terminates.
TLS_EXTENSION = "quarterdeck.tls"

#: First segment of KubeSphere's API.
KAPIS = "kapis"
#: First segments of kube-apiserver's paths, and of KubeSphere's. Those of `_PROBES` exist only below a
#: cluster, because the console has probes of its own.
_API = frozenset({"api", "apis", "version", "openapi", KAPIS})
_PROBES = frozenset({"healthz", "livez", "readyz"})
#: Versions of `/clusters/{cluster}/openapi/{version}`. Other paths there are the console's.
_OPENAPI = frozenset({"v2", "v3"})


def is_gateway_path(raw: bytes) -> bool:
    """Return True if the gateway answers requests for this path, with or without a query."""
    segments = unquote_to_bytes(raw.partition(b"?")[0]).decode("latin-1").split("/")[1:5]
    if segments[:1] != ["clusters"]:
        return segments[:1] != [] and segments[0] in _API
    below, after = segments[2:3], segments[3:4]
    if below == ["openapi"]:
        return bool(after) and after[0] in _OPENAPI
    return bool(below) and below[0] in _API | _PROBES
