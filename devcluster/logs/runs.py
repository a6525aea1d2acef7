"""Container runs that have logs, and the kubelet's errors for containers without logs."""

from collections.abc import Iterator
from dataclasses import dataclass

from devcluster.errors import StatusError, bad_request
from devcluster.logs.options import nanoseconds
from devcluster.objects import Obj, dicts, dig, meta, parse_time

#: Pod annotations: the number of log lines per second, and a text that is logged at the start.
RATE_ANNOTATION, TEXT_ANNOTATION = "devcluster/lines-per-second", "devcluster/log"
_MOST_A_SECOND = 50_000.0
_GROUPS = ("initContainers", "containers", "ephemeralContainers")
_PULLING = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of a container from start to termination.

    Times are in nanoseconds since 1970; `ended` is None while the container runs. `rate` is in
    lines per second; 0 uses the program's usual rate. `message` is the termination message.
    """

    id: str
    name: str
    image: str
    started: int
    ended: int | None
    code: int
    reason: str
    message: str
    rate: float
    text: str


def container_of(pod: Obj, wanted: str) -> str:
    """Return the name of the requested container, or of the only container if none is specified."""
    pod_name = meta(pod)["name"]
    names = [str(one["name"]) for one in declared_containers(pod)]
    if wanted:
        if wanted not in names:
            raise bad_request(f"container {wanted} is not valid for pod {pod_name}")
        return wanted
    own = list(dicts(dig(pod, "spec.containers")))
    if len(own) == 1:
        return str(own[0].get("name"))
    raise bad_request(
        f"a container name must be specified for pod {pod_name}, choose one of: [{' '.join(names)}]"
    )


def run_of(pod: Obj, container: str, *, previous: bool) -> Run:
    """Return the last run of a container, or the previous one. Raise a 400 error if the run does
    not exist.
    """
    pod_name = meta(pod)["name"]
    status = status_of(pod, container)
    state, last = status.get("state") or {}, dig(status, "lastState.terminated")
    if previous:
        if not last:
            text = f'previous terminated container "{container}" in pod "{pod_name}" not found'
            raise bad_request(text)
        return _ended(pod, status, last)
    if state.get("running"):
        return _run(pod, status, state["running"], None)
    ended = state.get("terminated") or last
    if ended:
        return _ended(pod, status, ended)
    raise _not_started(container, pod_name, state)


def current_run(pod: Obj, run: Run) -> Run | None:
    """Return the current state of a run, or None if the pod's status no longer contains it."""
    status = status_of(pod, run.name)
    running = dig(status, "state.running")
    ended = (dig(status, "state.terminated"), dig(status, "lastState.terminated"))
    found = [_run(pod, status, running, None)] if running else []
    found += [_ended(pod, status, part) for part in ended if part]
    return next((one for one in found if one.id == run.id), None)


def _not_started(container: str, pod_name: str, state: Obj) -> StatusError:
    about = f'container "{container}" in pod "{pod_name}" is waiting to start'
    reason = dig(state, "waiting.reason")
    if not reason:
        return bad_request(f"{about} - no logs yet")
    return bad_request(f"{about}: {_PULLING.get(reason, reason)}")


def declared_containers(pod: Obj) -> Iterator[Obj]:
    for group in _GROUPS:
        yield from (one for one in dicts(dig(pod, f"spec.{group}")) if one.get("name"))


def status_of(pod: Obj, container: str) -> Obj:
    """Return the status of a container, or an empty dictionary."""
    for group in _GROUPS:
        for one in dicts(dig(pod, f"status.{group[:-1]}Statuses")):
            if one.get("name") == container:
                return one
    return {}


def _ended(pod: Obj, status: Obj, part: Obj) -> Run:
    return _run(pod, status, part, _moment(pod, part, "finishedAt"))


def _run(pod: Obj, status: Obj, part: Obj, ended: int | None) -> Run:
    notes = meta(pod).get("annotations") or {}
    identifier = part.get("containerID") or status.get("containerID")
    return Run(
        # Runs without a container ID (generated history) are identified by the restart count.
        id=str(identifier or f"{meta(pod)['uid']}/{status['name']}/{status.get('restartCount')}"),
        name=str(status["name"]),
        image=str(status.get("image", "")),
        started=_moment(pod, part, "startedAt"),
        ended=ended,
        code=int(part.get("exitCode", 0)),
        reason=str(part.get("reason", "")),
        message=str(part.get("message", "")),
        rate=_rate(str(notes.get(RATE_ANNOTATION, ""))),
        text=str(notes.get(TEXT_ANNOTATION, "")),
    )


def _moment(pod: Obj, part: Obj, field: str) -> int:
    """Return a time of the status, or the pod's creation time if it is missing."""
    return nanoseconds(parse_time(str(part.get(field) or meta(pod)["creationTimestamp"])))


def _rate(text: str) -> float:
    try:
        return min(max(0.0, float(text)), _MOST_A_SECOND)
    except ValueError:
        return 0.0
