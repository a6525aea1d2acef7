"""Helpers that move newly created sample objects into the past."""

import re
from datetime import UTC, datetime, timedelta

from devcluster.objects import Obj, meta, parse_time, timestamp

_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def age_by(obj: Obj, age: timedelta) -> Obj:
    """Return the object with all timestamps moved into the past."""

    def moved(value: object) -> object:
        if isinstance(value, dict):
            return {name: moved(item) for name, item in value.items()}
        if isinstance(value, list):
            return [moved(item) for item in value]
        if isinstance(value, str) and _STAMP.fullmatch(value):
            return timestamp(parse_time(value) - age)
        return value

    result = moved(obj)
    return result if isinstance(result, dict) else obj


def restart_often(pod: Obj, count: int, last: timedelta) -> None:
    """Give the first container a restart history. The last restart was `last` ago."""
    now = datetime.now(UTC)
    for status in (pod.get("status") or {}).get("containerStatuses", [])[:1]:
        status["restartCount"] = count
        ended = (status.get("lastState") or {}).get("terminated")
        if ended is None:
            ended = {"exitCode": 143, "reason": "Error"}
            status["lastState"] = {"terminated": ended}
        ended["startedAt"] = timestamp(now - last - timedelta(minutes=4))
        ended["finishedAt"] = timestamp(now - last)
        running = (status.get("state") or {}).get("running")
        if running:
            running["startedAt"] = timestamp(now - last + timedelta(seconds=12))


def evicted_pod(like: Obj, name: str) -> Obj:
    """Return a pod that was evicted by the kubelet because of memory pressure."""
    about = {key: meta(like)[key] for key in ("namespace", "labels", "ownerReferences")}
    message = (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 82Mi. "
        "Container was using 1243Mi, request is 512Mi, has larger consumption of memory."
    )
    status = {
        "phase": "Failed",
        "reason": "Evicted",
        "message": message,
        "startTime": timestamp(),
        "conditions": [
            {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": "TerminationByKubelet",
                "message": message,
                "lastTransitionTime": timestamp(),
            }
        ],
    }
    return {"metadata": {**about, "name": name}, "spec": like["spec"], "status": status}
