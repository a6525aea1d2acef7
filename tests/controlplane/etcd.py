"""The one thing that tests ask of etcd itself: forget the past."""

import base64
import http.client
import json
from typing import Any
from urllib.parse import urlsplit

__all__ = ["compact"]

_SECONDS = 30.0
# Outside of what kube-apiserver keeps there.
_KEY = base64.b64encode(b"controlplane/compacted").decode()


def compact(url: str) -> int:
    """Forgets what is before the revision that it returns, which is the newest.

    That revision is a write of our own. Were it the last change of a Kubernetes object, a watch
    that begins with just this change would find its previous value gone, and kube-apiserver
    answers that with 500. So every watch that has missed a change gets 410.
    """
    revision = int(_call(url, "/v3/kv/put", {"key": _KEY})["header"]["revision"])
    _call(url, "/v3/kv/compaction", {"revision": revision, "physical": True})
    return revision


def _call(url: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Through the JSON gateway, so that neither etcdctl nor gRPC is needed."""
    address = urlsplit(url)
    host = address.hostname or ""
    connection = http.client.HTTPConnection(host, address.port, timeout=_SECONDS)
    try:
        connection.request("POST", path, json.dumps(body))
        response = connection.getresponse()
        text = response.read().decode()
    finally:
        connection.close()
    if response.status != http.client.OK:
        raise OSError(f"etcd refused {path}: {text}")
    answer: dict[str, Any] = json.loads(text)
    return answer
