"""Pod statuses as kubelets report them: mostly running, some failing."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from bench.podspec import Pod, image_of, uuid_of

_START = datetime(2026, 5, 11, 8, 15, tzinfo=UTC)
_CONDITIONS = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)


def status_of(pod: Pod, generation: int = 0) -> dict[str, Any]:
    """Return the complete status. Generations differ in restart counts and sometimes in the state."""
    random = Random(pod.number * 1_000_003 + generation)  # noqa: S311
    fate = random.random()
    since = _START + timedelta(seconds=pod.number % 86_400 + generation)
    if fate < 0.03:
        states = [_crashing(pod, generation, since), *_rest(pod, since)]
    elif fate < 0.05:
        states = [_unpullable(pod), *_rest(pod, since)]
    else:
        states = [_running(pod, name, generation, since) for name in pod.containers()]
    ready = all(state["ready"] for state in states)
    address = f"10.{128 + pod.number // 65_536}.{pod.number // 256 % 256}.{pod.number % 256}"
    return {
        "phase": "Running" if fate >= 0.05 or fate < 0.03 else "Pending",
        "conditions": [_condition(kind, ready, since) for kind in _CONDITIONS],
        "hostIP": f"10.127.{pod.node // 250}.{pod.node % 250 + 1}",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": _text(_START),
        "qosClass": "Burstable",
        "initContainerStatuses": [_initialized(pod, since)] if pod.migrates else [],
        "containerStatuses": states,
    }


def _rest(pod: Pod, since: datetime) -> list[dict[str, Any]]:
    return [_running(pod, name, 0, since) for name in pod.containers()[1:]]


def _running(pod: Pod, name: str, restarts: int, since: datetime) -> dict[str, Any]:
    state = {"running": {"startedAt": _text(since)}}
    return _container(pod, name, state, ready=True, restarts=restarts)


def _crashing(pod: Pod, restarts: int, since: datetime) -> dict[str, Any]:
    waiting = {
        "reason": "CrashLoopBackOff",
        "message": f"back-off 5m0s restarting failed container=app pod={pod.name}",
    }
    last = {
        "exitCode": 1 + pod.number % 3,
        "reason": "Error",
        "startedAt": _text(since),
        "finishedAt": _text(since + timedelta(seconds=9)),
    }
    state = _container(pod, "app", {"waiting": waiting}, ready=False, restarts=restarts + 3)
    return {**state, "lastState": {"terminated": last}}


def _unpullable(pod: Pod) -> dict[str, Any]:
    image = image_of(pod, "app")
    waiting = {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{image}"'}
    return _container(pod, "app", {"waiting": waiting}, ready=False, restarts=0)


def _initialized(pod: Pod, since: datetime) -> dict[str, Any]:
    done = {
        "exitCode": 0,
        "reason": "Completed",
        "startedAt": _text(_START),
        "finishedAt": _text(since),
    }
    state = _container(pod, "app", {"terminated": done}, ready=True, restarts=0)
    return {**state, "name": "migrate"}


def _container(
    pod: Pod, name: str, state: dict[str, Any], *, ready: bool, restarts: int
) -> dict[str, Any]:
    digest = (uuid_of("image", pod.workload, name) * 2).replace("-", "")
    identity = (uuid_of("container", pod.number, name, restarts) * 2).replace("-", "")
    image = image_of(pod, name)
    return {
        "name": name,
        "image": image,
        "imageID": f"{image.rpartition(':')[0]}@sha256:{digest}",
        "containerID": f"containerd://{identity}",
        "ready": ready,
        "started": ready,
        "restartCount": restarts,
        "state": state,
        "lastState": {},
    }


def _condition(kind: str, ready: bool, since: datetime) -> dict[str, Any]:
    condition = {
        "type": kind,
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": _text(since),
        "observedGeneration": 1,
    }
    if not ready and kind in ("Ready", "ContainersReady"):
        trouble = {
            "status": "False",
            "reason": "ContainersNotReady",
            "message": "containers with unready status: [app]",
        }
        condition.update(trouble)
    return condition


def _text(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
