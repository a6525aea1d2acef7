"""Kubernetes Events about controller actions, visible in `kubectl describe`.

https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
"""

import hashlib
import logging
from datetime import UTC, datetime
from typing import Any

from console.kube.clients import ConsoleClient
from console.kube.errors import ApiError, Conflict
from console.kube.gvr import EVENTS

log = logging.getLogger(__name__)

NORMAL, WARNING = "Normal", "Warning"
#: Namespace in which Kubernetes stores events about cluster-scoped objects.
CLUSTER_NAMESPACE = "default"


class Recorder:
    """Record events about cluster-scoped objects. If an event cannot be written, the error is
    logged and the controller continues.
    """

    def __init__(self, client: ConsoleClient, component: str) -> None:
        self._client = client
        self._component = component

    async def record(self, about: dict[str, Any], kind: str, reason: str, message: str) -> None:
        """Record an event about `about`, the object as the controller read it. Equal messages about
        the same version of an object create only one event.
        """
        body = self._event(about, kind, reason, message)
        try:
            await self._client.create(EVENTS, body, namespace=CLUSTER_NAMESPACE)
        except Conflict:
            return
        except ApiError as error:
            log.warning(
                "Failed to create event %s for %s: %s", reason, about["metadata"]["name"], error
            )

    def _event(self, about: dict[str, Any], kind: str, reason: str, message: str) -> dict[str, Any]:
        meta = about["metadata"]
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        words = "\0".join((meta["uid"], meta["resourceVersion"], reason, message))
        digest = hashlib.sha256(words.encode()).hexdigest()[:16]
        name = f"{meta['name'][:200]}.{digest}"
        target = {
            "apiVersion": about["apiVersion"],
            "kind": about["kind"],
            "name": meta["name"],
            "uid": meta["uid"],
            "resourceVersion": meta["resourceVersion"],
        }
        found = event_manifest(name, CLUSTER_NAMESPACE, target, self._component, now)
        return {**found, "type": kind, "reason": reason, "message": message}


def event_manifest(
    name: str, namespace: str, about: dict[str, Any], component: str, now: str
) -> dict[str, Any]:
    """Return the manifest of an event that occurred once, without type, reason and message. `about`
    is the reference to the object, and `now` a timestamp in the format of Kubernetes.
    """
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": about,
        "source": {"component": component},
        "reportingComponent": component,
        "reportingInstance": component,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
