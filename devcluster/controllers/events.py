"""Event recorder with deduplication, and the cleanup of events after one hour."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from devcluster.controllers.base import Controller
from devcluster.errors import StatusError
from devcluster.objects import Obj, dig, meta, parse_time, timestamp
from devcluster.store import Change

_KEPT = timedelta(hours=1)
_LOOK = 60.0


class Recorder(Controller):
    """Record events for a component."""

    name, collection = "recorder", "events"

    def record(
        self,
        api_version: str,
        kind: str,
        about: Obj,
        severity: str,
        reason: str,
        message: str,
        component: str,
        *,
        field_path: str = "",
        host: str = "",
    ) -> None:
        """Record an event, or increment the count of the same event. `severity` is Normal or
        Warning.
        """
        involved = _reference(api_version, kind, about, field_path)
        identity = f"{involved['uid']}|{reason}|{message}|{field_path}"
        digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
        namespace = involved.get("namespace", "default")
        name = f"{involved['name']}.{digest}"
        held = self.find(f"{namespace}/{name}")
        now = timestamp()
        if held:

            def again(event: Obj) -> Obj:
                return {**event, "count": event.get("count", 1) + 1, "lastTimestamp": now}

            self.update(self.collection, held, again)
            return
        source = {"component": component, "host": host} if host else {"component": component}
        event: Obj = {
            "metadata": {"name": name},
            "involvedObject": involved,
            "reason": reason,
            "message": message,
            "source": source,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": severity,
            "eventTime": None,
            "reportingComponent": component,
            "reportingInstance": host,
        }
        try:
            self.create(self.collection, namespace, event)
        except StatusError as error:
            # A terminating or deleted namespace rejects new events.
            if error.code not in (403, 404):
                raise


def _reference(api_version: str, kind: str, about: Obj, field_path: str) -> Obj:
    found = meta(about)
    reference: Obj = {
        "kind": kind,
        "name": found["name"],
        "uid": found["uid"],
        "apiVersion": api_version,
        "resourceVersion": found.get("resourceVersion", ""),
    }
    if found.get("namespace"):
        reference["namespace"] = found["namespace"]
    if field_path:
        reference["fieldPath"] = field_path
    return reference


class EventCleaner(Controller):
    """Delete events that were not repeated for an hour."""

    name, collection = "event-cleaner", "events"

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        return ()

    def all_keys(self) -> Iterable[str]:
        return ("",)

    def reconcile(self, key: str) -> float | None:
        limit = datetime.now(UTC) - _KEPT
        for record in self.store.collection(self.collection).records_in():
            event = record.load()
            last = event.get("lastTimestamp") or event.get("eventTime")
            last = last or dig(event, "metadata.creationTimestamp")
            if parse_time(last) < limit:
                self.delete(self.collection, record)
        return _LOOK
