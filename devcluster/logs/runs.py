"""Which run of which container is asked about, and what a kubelet says where there is none."""

from collections.abc import Iterator
from dataclasses import dataclass

from devcluster.logs.options import nanoseconds
from devcluster.objects import Obj, dicts, dig, meta, parse_time
from devcluster.statuses import StatusError, bad_request

#: Annotations of a pod: how many lines a second its containers write, and a text that they write at once
#: when they start.
RATE_ANNOTATION, TEXT_ANNOTATION = "devcluster/lines-per-second", "devcluster/log"
_MOST_A_SECOND = 50_000.0
_GROUPS = ("initContainers", "containers", "ephemeralContainers")
_PULLING = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A container from its start to its end. Moments are nanoseconds since 1970, `ended` None while it
    runs. `rate`: lines a second, 0 for as many as such a program writes. `message`: its last words."""

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
    """The container that is asked about: if none is named the only one, beside those that only begin."""
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
    """The last run of a container, or the one before. 400 where there is none."""
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


def later(pod: Obj, run: Run) -> Run | None:
    """The same run as it is now; None if the pod no longer knows of it."""
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
    """Empty for one of which the pod says nothing."""
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
        # Of a container whose past was made up it is the number of its restarts that tells runs apart.
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
    """Whoever writes a status may leave it out."""
    return nanoseconds(parse_time(str(part.get(field) or meta(pod)["creationTimestamp"])))


def _rate(text: str) -> float:
    try:
        return min(max(0.0, float(text)), _MOST_A_SECOND)
    except ValueError:
        return 0.0
