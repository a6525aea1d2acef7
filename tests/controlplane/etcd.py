"""Compaction of etcd."""

import base64
import http.client
import json
from typing import Any
from urllib.parse import urlsplit

__all__ = ["compact"]

_SECONDS = 30.0
# A key outside of kube-apiserver's prefix.
_KEY = base64.b64encode(b"controlplane/compacted").decode()


def compact(url: str) -> int:
    """Compact etcd up to a new revision and return that revision.

    The revision is created by a separate write. If it were the last change of a Kubernetes
    object, a watch that starts with that change would miss the previous value, and
    kube-apiserver would return 500. With the separate write, every watch that missed a change
    gets 410.
    """
    revision = int(_call(url, "/v3/kv/put", {"key": _KEY})["header"]["revision"])
    _call(url, "/v3/kv/compaction", {"revision": revision, "physical": True})
    return revision


def _call(url: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Call etcd's JSON gateway, which needs neither etcdctl nor gRPC."""
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
        raise OSError(f"etcd rejected {path}: {text}")
    answer: dict[str, Any] = json.loads(text)
    return answer
