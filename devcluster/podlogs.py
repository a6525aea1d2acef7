"""What the containers of simulated pods have written: lines made up from the pod itself."""

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from devcluster.objects import Obj, dicts, dig, meta, parse_time
from devcluster.statuses import bad_request

_LINES = (
    'level=info msg="request completed" method=GET path=/healthz status=200 duration=2ms',
    'level=info msg="request completed" method=POST path=/api/orders status=201 duration=38ms',
    'level=info msg="cache refreshed" entries=1284',
    'level=debug msg="connection returned to pool" idle=7',
    'level=warn msg="slow query" duration=812ms table=orders',
    'level=info msg="message acknowledged" topic=orders partition=3',
)
_SECONDS_BETWEEN = 7
_MOST = 500


def log_text(pod: Obj, query: Mapping[str, str]) -> str:
    """Deterministic lines since the container started. 400 where there can be none."""
    container = _container(pod, query.get("container", ""))
    status = next(
        (s for s in dicts(dig(pod, "status.containerStatuses")) if s.get("name") == container), {}
    )
    state = status.get("state") or {}
    previous = query.get("previous") in ("true", "1")
    part = (status.get("lastState") or {}).get("terminated") if previous else None
    part = part or state.get("running") or state.get("terminated")
    if not part or not part.get("startedAt"):
        reason = (state.get("waiting") or {}).get("reason", "ContainerCreating")
        name = meta(pod)["name"]
        raise bad_request(f'container "{container}" in pod "{name}" is waiting to start: {reason}')
    lines = _lines(meta(pod)["uid"], container, part)
    tail = query.get("tailLines")
    if tail and tail.isdigit():
        lines = lines[-int(tail) :] if int(tail) else []
    stamped = query.get("timestamps") in ("true", "1")
    return "".join(f"{moment} {line}\n" if stamped else f"{line}\n" for moment, line in lines)


def _container(pod: Obj, wanted: str) -> str:
    names = [c["name"] for c in dicts(dig(pod, "spec.containers"))]
    names += [c["name"] for c in dicts(dig(pod, "spec.initContainers"))]
    if not wanted:
        return str(names[0])
    if wanted not in names:
        raise bad_request(f"container {wanted} is not valid for pod {meta(pod)['name']}")
    return wanted


def _lines(uid: str, container: str, part: Obj) -> list[tuple[str, str]]:
    start = parse_time(part["startedAt"])
    end = parse_time(part["finishedAt"]) if part.get("finishedAt") else datetime.now(UTC)
    count = int((end - start).total_seconds()) // _SECONDS_BETWEEN + 1
    source = random.Random(f"{uid}/{container}")  # noqa: S311
    offset = source.randrange(len(_LINES))
    found = []
    for index in range(max(0, count - _MOST), count):
        moment = start + timedelta(seconds=index * _SECONDS_BETWEEN)
        # Not a multiple of the number of lines, so that the order does not look like a loop.
        line = _LINES[(offset + index * 5 + index // 4) % len(_LINES)]
        found.append((moment.strftime("%Y-%m-%dT%H:%M:%S.000000000Z"), line))
    return found
