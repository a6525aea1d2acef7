"""Pod statuses at each step of the pod lifecycle, as written by a kubelet."""

import hashlib
from collections.abc import Iterator

from devcluster.controllers.behaviour import Behaviour
from devcluster.controllers.pods import conditions_with
from devcluster.objects import Obj, clone, dicts, dig, meta, timestamp

_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")


def _identifier(pod: Obj, name: str, count: int) -> str:
    text = f"{meta(pod)['uid']}/{name}/{count}"
    return f"containerd://{hashlib.sha256(text.encode()).hexdigest()}"


def _image_id(image: str) -> str:
    plain = image.partition("@")[0]
    colon = plain.rpartition("/")[2].find(":")
    name = plain if colon < 0 else plain.rpartition(":")[0]
    return f"{name}@sha256:{hashlib.sha256(image.encode()).hexdigest()}"


def _container(declared: Obj, state: Obj, **more: object) -> Obj:
    found: Obj = {
        "name": declared["name"],
        "image": declared.get("image", ""),
        "imageID": "",
        "state": state,
        "lastState": {},
        "ready": False,
        "started": False,
        "restartCount": 0,
    }
    return found | more


def _started(pod: Obj, declared: Obj, now: str, held: Obj | None) -> Obj:
    count = int((held or {}).get("restartCount", 0))
    return _container(
        declared,
        {"running": {"startedAt": now}},
        imageID=_image_id(declared.get("image", "")),
        containerID=_identifier(pod, declared["name"], count),
        started=True,
        restartCount=count,
        lastState=(held or {}).get("lastState") or {},
    )


def _status(pod: Obj) -> Obj:
    return clone(pod.get("status") or {})


def _set(status: Obj, now: str, **values: bool) -> None:
    """Set conditions. Conditions that are not true get a reason."""
    wanted = []
    for name, value in values.items():
        one: Obj = {"type": name, "status": "True" if value else "False"}
        if not value and name in ("Ready", "ContainersReady"):
            one |= {"reason": "ContainersNotReady", "message": _unready_text(status)}
        wanted.append(one)
    status["conditions"] = conditions_with(status.get("conditions"), now, *wanted)


def _unready_text(status: Obj) -> str:
    names = [c["name"] for c in dicts(status.get("containerStatuses")) if not c.get("ready")]
    return f"containers with unready status: [{' '.join(names)}]"


def _inits(pod: Obj) -> list[Obj]:
    return list(dicts(dig(pod, "spec.initContainers")))


def _containers(pod: Obj) -> list[Obj]:
    return list(dicts(dig(pod, "spec.containers")))


def waiting_status(pod: Obj, now: str) -> Obj:
    """Return the status of a scheduled pod whose containers have not started."""
    status = _status(pod)
    inits = _inits(pod)
    reason = "PodInitializing" if inits else "ContainerCreating"
    status["phase"] = "Pending"
    idle = {"waiting": {"reason": reason}}
    status["containerStatuses"] = [_container(c, clone(idle)) for c in _containers(pod)]
    if inits:
        status["initContainerStatuses"] = [_container(c, clone(idle)) for c in inits]
    _set(
        status,
        now,
        PodReadyToStartContainers=False,
        Initialized=not inits,
        Ready=False,
        ContainersReady=False,
        PodScheduled=True,
    )
    return status


def stuck_init_status(pod: Obj) -> Obj:
    """Return the status of a pod whose first init container keeps running."""
    status = _status(pod)
    inits = _inits(pod)
    held = list(dicts(status.get("initContainerStatuses")))
    if not inits or (held and dig(held[0], "state.running")):
        return status
    now = timestamp()
    idle = {"waiting": {"reason": "PodInitializing"}}
    status["initContainerStatuses"] = [
        _started(pod, inits[0], now, None),
        *(_container(c, clone(idle)) for c in inits[1:]),
    ]
    names = " ".join(c["name"] for c in inits)
    one = {
        "type": "Initialized",
        "status": "False",
        "reason": "ContainersNotInitialized",
        "message": f"containers with incomplete status: [{names}]",
    }
    status["conditions"] = conditions_with(status.get("conditions"), now, one)
    return status


def with_completed_init_containers(pod: Obj) -> Obj:
    """Return a copy of the pod with completed init containers."""
    found = clone(pod)
    now = timestamp()
    statuses = [
        _container(
            declared,
            {"terminated": _ended_state(pod, declared, 0, "Completed", now, now, 0)},
            ready=True,
            imageID=_image_id(declared.get("image", "")),
        )
        for declared in _inits(pod)
    ]
    if statuses:
        found["status"]["initContainerStatuses"] = statuses
    return found


def running_status(pod: Obj, now: str) -> Obj:
    """Return the status of a pod that has started but is not ready."""
    status = _status(pod)
    status["phase"] = "Running"
    status["containerStatuses"] = [_started(pod, c, now, None) for c in _containers(pod)]
    _set(
        status,
        now,
        PodReadyToStartContainers=True,
        Initialized=True,
        Ready=False,
        ContainersReady=False,
    )
    return status


def ready_status(pod: Obj, now: str) -> Obj:
    status = _status(pod)
    for one in dicts(status.get("containerStatuses")):
        one["ready"] = True
    _set(status, now, Ready=True, ContainersReady=True)
    return status


def _ended_state(
    pod: Obj, declared: Obj, code: int, reason: str, start: str, end: str, count: int
) -> Obj:
    return {
        "exitCode": code,
        "reason": reason,
        "startedAt": start,
        "finishedAt": end,
        "containerID": _identifier(pod, declared["name"], count),
    }


def ended_status(pod: Obj, code: int, now: str) -> Obj:
    """Return the status of a pod whose containers have all terminated and are not restarted."""
    status = _status(pod)
    reason = _reason(code)
    for declared, one in _pairs(pod, status):
        start = dig(one, "state.running.startedAt") or now
        count = int(one.get("restartCount", 0))
        state = _ended_state(pod, declared, code, reason, start, now, count)
        one |= {"state": {"terminated": state}, "ready": False, "started": False}
    status["phase"] = "Succeeded" if code == 0 else "Failed"
    _set(status, now, PodReadyToStartContainers=False, Ready=False, ContainersReady=False)
    for one in status["conditions"]:
        if one["type"] in ("Ready", "ContainersReady") and code == 0:
            one["reason"] = "PodCompleted"
            one.pop("message", None)
    return status


def _pairs(pod: Obj, status: Obj) -> Iterator[tuple[Obj, Obj]]:
    """Yield each container spec with its status."""
    declared = {container["name"]: container for container in _containers(pod)}
    for one in dicts(status.get("containerStatuses")):
        if one["name"] in declared:
            yield declared[one["name"]], one


def crashed_status(pod: Obj, behaviour: Behaviour, now: str, *, backing_off: bool = True) -> Obj:
    """Return the status after the first container crashed and before it is restarted."""
    status = _status(pod)
    for declared, one in list(_pairs(pod, status))[:1]:
        start = dig(one, "state.running.startedAt") or now
        count = int(one.get("restartCount", 0))
        state = _ended_state(
            pod, declared, behaviour.exit_code, behaviour.reason, start, now, count
        )
        if behaviour.message:
            state["message"] = behaviour.message
        message = (
            f"back-off 5m0s restarting failed container={declared['name']} "
            f"pod={meta(pod)['name']}_{meta(pod)['namespace']}({meta(pod)['uid']})"
        )
        idle = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
        one |= {
            "state": idle if backing_off else {"terminated": state},
            "lastState": {"terminated": state},
            "ready": False,
            "started": False,
        }
    _set(status, now, Ready=False, ContainersReady=False)
    return status


def restarted_status(pod: Obj, now: str) -> Obj:
    """Return the status after the terminated containers were restarted."""
    status = _status(pod)
    for declared, one in _pairs(pod, status):
        if not dig(one, "state.running"):
            one["restartCount"] = int(one.get("restartCount", 0)) + 1
            one |= _started(pod, declared, now, one)
    return status


def debug_started_status(pod: Obj, now: str) -> Obj | None:
    """Return the status with newly added ephemeral containers running, or None if none were added."""
    status = _status(pod)
    held = list(dicts(status.get("ephemeralContainerStatuses")))
    known = {one.get("name") for one in held}
    added = [c for c in dicts(dig(pod, "spec.ephemeralContainers")) if c.get("name") not in known]
    if not added or status.get("phase") != "Running":
        return None
    fresh = [_debugger(pod, one, now) for one in added]
    for one in fresh:
        one.pop("started")
    status["ephemeralContainerStatuses"] = held + fresh
    return status


def _debugger(pod: Obj, declared: Obj, now: str) -> Obj:
    """Return the status of an ephemeral container. The pull of an image from `.invalid` fails (RFC
    2606).
    """
    image = declared.get("image", "")
    if not image.partition("/")[0].endswith(".invalid"):
        return _started(pod, declared, now, None)
    message = f'Back-off pulling image "{image}": ErrImagePull: no such host'
    idle = {"waiting": {"reason": "ImagePullBackOff", "message": message}}
    return _container(declared, idle)


def debug_ended_status(pod: Obj, name: str, code: int, now: str) -> Obj:
    """Return the status after an ephemeral container terminated. Ephemeral containers are never
    restarted.
    """
    status = _status(pod)
    for one in dicts(status.get("ephemeralContainerStatuses")):
        if one.get("name") == name:
            start, reason = dig(one, "state.running.startedAt") or now, _reason(code)
            one["state"] = {"terminated": _ended_state(pod, one, code, reason, start, now, 0)}
    return status


def _reason(code: int) -> str:
    return "Completed" if code == 0 else "Error"


def pull_failure_status(pod: Obj, image: str) -> Obj:
    """Return the status of a pod whose first container's image cannot be pulled."""
    status = _status(pod)
    for _, one in list(_pairs(pod, status))[:1]:
        message = f'Back-off pulling image "{image}": ErrImagePull: not found'
        one["state"] = {"waiting": {"reason": "ImagePullBackOff", "message": message}}
    return status
