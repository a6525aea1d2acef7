"""Pod status, ready containers and restarts as displayed by kubectl.

The rules are those of kube-apiserver's pod printer: the status is the phase, or a more specific
reason.
"""

from devcluster.objects import Obj, condition_of, dicts, dig, holds, meta


def pod_ready(pod: Obj) -> str:
    ready, _counted = _counts(pod)
    return f"{ready}/{len(dig(pod, 'spec.containers') or ()) + len(_sidecars(pod))}"


def pod_restarts(pod: Obj) -> tuple[int, str | None]:
    """Return the number of restarts and the time of the last one."""
    count, last = 0, None
    for status in _counts(pod)[1]:
        count += int(status.get("restartCount", 0))
        finished = dig(status, "lastState.terminated.finishedAt")
        if finished and (last is None or finished > last):
            last = finished
    return count, last


def _sidecars(pod: Obj) -> set[object]:
    declared = dicts(dig(pod, "spec.initContainers"))
    return {one.get("name") for one in declared if one.get("restartPolicy") == "Always"}


def _counts(pod: Obj) -> tuple[int, list[Obj]]:
    """Return the number of ready containers, and the statuses of the containers whose restarts are
    counted.
    """
    sidecars, counted, ready, initializing = _sidecars(pod), list[Obj](), 0, False
    for status in dicts(dig(pod, "status.initContainerStatuses")):
        counted.append(status)
        if (dig(status, "state.terminated") or {}).get("exitCode") == 0:
            continue
        if status.get("name") not in sidecars or not status.get("started"):
            initializing = True
            break
        ready += bool(status.get("ready"))
    if not initializing or holds(pod, "Initialized"):
        statuses = [*dicts(dig(pod, "status.containerStatuses"))]
        counted = [*(one for one in counted if one.get("name") in sidecars), *statuses]
        ready += sum(
            bool(one.get("ready")) and dig(one, "state.running") is not None for one in statuses
        )
    return ready, counted


def pod_status(pod: Obj) -> str:
    status = pod.get("status") or {}
    word = str(status.get("reason") or status.get("phase") or "Unknown")
    if (condition_of(pod, "PodScheduled") or {}).get("reason") == "SchedulingGated":
        word = "SchedulingGated"
    starting = _init_word(pod, status)
    word = starting or _container_word(pod, status, word)
    if "deletionTimestamp" in meta(pod):
        if status.get("reason") == "NodeLost":
            return "Unknown"
        if status.get("phase") not in ("Failed", "Succeeded"):
            return "Terminating"
    return word


def _init_word(pod: Obj, status: Obj) -> str:
    declared, sidecars = list(dicts(dig(pod, "spec.initContainers"))), _sidecars(pod)
    for index, one in enumerate(dicts(status.get("initContainerStatuses"))):
        state = one.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting")
        if ended and ended.get("exitCode") == 0:
            continue
        if one.get("name") in sidecars and one.get("started"):
            continue
        if ended:
            return f"Init:{_ended_word(ended)}"
        if waiting and waiting.get("reason") not in (None, "", "PodInitializing"):
            return f"Init:{waiting['reason']}"
        return f"Init:{index}/{len(declared)}"
    return ""


def _ended_word(ended: Obj) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    if ended.get("signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _container_word(pod: Obj, status: Obj, word: str) -> str:
    running = False
    for one in reversed(list(dicts(status.get("containerStatuses")))):
        state = one.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting")
        if waiting and waiting.get("reason"):
            word = str(waiting["reason"])
        elif ended:
            word = _ended_word(ended)
        elif one.get("ready") and state.get("running"):
            running = True
    if word == "Completed" and running:
        word = "Running" if holds(pod, "Ready") else "NotReady"
    return word
