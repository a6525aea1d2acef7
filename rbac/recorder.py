"""Kubernetes Events about what controllers did, for whoever describes the object.

https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
"""

import hashlib
import logging
from datetime import UTC, datetime
from typing import Any

from console.kube.client import ConsoleClient
from console.kube.errors import ApiError, Conflict
from console.kube.gvr import EVENTS

log = logging.getLogger(__name__)

NORMAL, WARNING = "Normal", "Warning"
#: Where Kubernetes keeps the events of objects that have no namespace.
CLUSTER_NAMESPACE = "default"


class Recorder:
    """Records events about cluster-scoped objects, as far as that is possible: an event that cannot be
    written is logged, and the controller goes on."""

    def __init__(self, client: ConsoleClient, component: str) -> None:
        self._client = client
        self._component = component

    async def record(self, about: dict[str, Any], kind: str, reason: str, message: str) -> None:
        """`about`: the object as the controller saw it. The same words about the same version of it are
        one event, however often a controller looks."""
        body = self._event(about, kind, reason, message)
        try:
            await self._client.create(EVENTS, body, namespace=CLUSTER_NAMESPACE)
        except Conflict:
            return
        except ApiError as error:
            log.warning("No event %s about %s: %s", reason, about["metadata"]["name"], error)

    def _event(self, about: dict[str, Any], kind: str, reason: str, message: str) -> dict[str, Any]:
        meta = about["metadata"]
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        words = "\0".join((meta["uid"], meta["resourceVersion"], reason, message))
        digest = hashlib.sha256(words.encode()).hexdigest()[:16]
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{meta['name'][:200]}.{digest}", "namespace": CLUSTER_NAMESPACE},
            "involvedObject": {
                "apiVersion": about["apiVersion"],
                "kind": about["kind"],
                "name": meta["name"],
                "uid": meta["uid"],
                "resourceVersion": meta["resourceVersion"],
            },
            "type": kind,
            "reason": reason,
            "message": message,
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "reportingInstance": self._component,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
