"""Record an event when a user's request exceeds a project's quota share.

kube-apiserver returns this error only to the user. The controllers run in another process and
learn of it from the event.
"""

import hashlib
import logging
import re
from datetime import UTC

from console.kube.apply import Manifest
from console.kube.errors import ApiError, Conflict, Forbidden
from console.kube.gvr import EVENTS, RESOURCE_QUOTAS
from console.kube.runtime import Runtime
from rbac.event_recorder import WARNING, event_manifest
from workspaces.names import SHARE
from workspaces.refused_requests import QUOTA_EXCEEDED, quota_error_part

log = logging.getLogger(__name__)

COMPONENT = "quarterdeck-console"
#: At most one event per project is recorded in this number of seconds.
_PAUSE = 1.0
#: Number of projects whose last event is stored.
_MOST = 1000

_PROJECT = re.compile(r"/namespaces/([a-z0-9-]{1,63})/")


class QuotaEventRecorder:
    """Recorder of quota events in one process. If an event cannot be written, the error is logged
    and the request continues.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._last: dict[str, float] = {}

    def record(self, path: str, error: Forbidden) -> None:
        """Record an error response of kube-apiserver. Does not block. Thread-safe."""
        words, project = quota_error_part(error.message), _PROJECT.search(path)
        if words and project is not None:
            self.record_need(project[1], words)

    def record_need(self, project: str, words: str) -> None:
        """Record that a project needs the amounts in `words` (see `quota_error_part`), unless an
        event of the project was recorded a moment ago. Does not block. Thread-safe.
        """
        now = self._runtime.clock.monotonic()
        if now - self._last.get(project, -_PAUSE) < _PAUSE:
            return
        if len(self._last) >= _MOST:
            self._last.clear()
        self._last[project] = now
        self._runtime.spawn(self._write(project, words))

    async def _write(self, project: str, words: str) -> None:
        try:
            await self._runtime.console.create(
                EVENTS, self._event(project, words), namespace=project
            )
        except Conflict:
            return
        except ApiError as error:
            log.warning("Failed to create a quota event for project %s: %s", project, error)

    def _event(self, project: str, words: str) -> Manifest:
        now = self._runtime.clock.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        digest = hashlib.sha256(f"{now}\0{words}".encode()).hexdigest()[:16]
        share = {
            "apiVersion": RESOURCE_QUOTAS.group_version,
            "kind": "ResourceQuota",
            "name": SHARE,
            "namespace": project,
        }
        found = event_manifest(f"{SHARE}.{digest}", project, share, COMPONENT, now)
        return {**found, "type": WARNING, "reason": QUOTA_EXCEEDED, "message": words}
