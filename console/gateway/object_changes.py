"""Manifests before and after a write through the gateway, for its audit record.

The state before is the cached object; before a deletion, an object that is not cached is read as the
user. The state after is the response, which is kept while it is passed on. Types without a kind, large
responses, and other formats than JSON have no manifests.
"""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import msgspec

from console.audit.trail import AuditEntry
from console.gateway.requestinfo import RequestInfo
from console.kube.apply import Manifest
from console.kube.clients import ProxiedResponse
from console.kube.errors import ApiError
from console.kube.gvr import Key
from console.kube.identity import Identity
from console.kube.store import UNREADABLE
from console.ui.core.clusters import Cluster
from console.ui.core.kind import ResourceKind
from console.ui.core.threads import in_thread
from console.views.history import describe_change
from console.views.perform import cached_object

#: Maximum bytes of a response that is kept.
MAX_BYTES = 2**20
_VERBS = frozenset({"create", "update", "patch", "delete"})


@dataclass(slots=True)
class ObjectChange:
    """The write of one object. `before` is None if the state is unknown."""

    kind: ResourceKind
    verb: str
    before: Manifest | None
    _raw: bytearray = field(default_factory=bytearray)
    _response: ProxiedResponse | None = None

    @classmethod
    async def of(
        cls, info: RequestInfo, cluster: Cluster, identity: Identity
    ) -> "ObjectChange | None":
        """Return the write before its request is sent, or None for other requests."""
        writes = info.verb in _VERBS and not info.subresource
        kind = cluster.kinds.of(info.gvr) if writes else None
        if kind is None:
            return None
        key = Key(info.namespace, info.name)
        before = cached_object(cluster, info.gvr, key) if info.verb != "create" else None
        if before is None and info.verb == "delete":
            with suppress(ApiError):
                client = cluster.runtime.as_user(identity)
                before = await client.get(info.gvr, namespace=key.namespace, name=key.name)
        return cls(kind, info.verb, before)

    async def keep(self, response: ProxiedResponse) -> AsyncIterator[bytes]:
        """Yield the pieces of the response without a delay."""
        self._response = response
        async for piece in response.content:
            if len(self._raw) <= MAX_BYTES:
                self._raw += piece
            yield piece

    async def describe(self, entry: AuditEntry) -> None:
        """Add the manifests to the record of a successful write. The client may have disconnected
        before the response was complete.
        """
        response = self._response
        if response is None or response.code >= HTTPStatus.MULTIPLE_CHOICES:
            return
        encoded = any(name.lower() == "content-encoding" for name, _value in response.headers)
        kept = not encoded and len(self._raw) <= MAX_BYTES
        answer = await in_thread(_decode, bytes(self._raw)) if kept else {}
        found = answer if answer.get("kind") == self.kind.api_kind else None
        details = (found or {}).get("metadata") or answer.get("details") or {}
        uid = str(details.get("uid") or "") if isinstance(details, dict) else ""
        before = self.before
        if before is not None and uid not in ("", before["metadata"].get("uid")):
            before = None
        if self.verb == "delete":
            await describe_change(entry, self.kind, uid, before or found, None)
        elif found is not None:
            await describe_change(entry, self.kind, uid, before, found)


def _decode(raw: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(raw)
    except UNREADABLE:
        return {}
    return found if isinstance(found, dict) else {}
