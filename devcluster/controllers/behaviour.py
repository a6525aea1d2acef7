"""Simulated container behavior, specified by annotations of the pod.

    devcluster/behaviour: crash oom        is OOM-killed after each start
    devcluster/behaviour: crash oom 600Mi  like crash oom, unless the limit is at least 600Mi
    devcluster/behaviour: crash error …    exits with code 1; the rest is the termination message
    devcluster/behaviour: pull-fails       the image does not exist
    devcluster/behaviour: never-ready      runs, but the readiness probe fails
    devcluster/behaviour: init-stuck       the first init container never terminates
    devcluster/behaviour: never-ends       keeps running after it is deleted
    devcluster/behaviour: runs 20          succeeds after 20 seconds
    devcluster/behaviour: fails 20         fails after 20 seconds
    devcluster/behaviour-image: …          the behavior applies only to this image
    devcluster/lines-per-second: 200       number of log lines that the containers write
    devcluster/log: …                      the only text that the containers log, at the start

Without annotations, a pod runs until it is deleted. A pod with another restart policy than
Always succeeds after 15 seconds, unless it has a container with stdin.
"""

from dataclasses import dataclass

from devcluster.objects import Obj, dicts, dig, meta
from devcluster.quantities import parse_quantity

ANNOTATION, IMAGE_ANNOTATION = "devcluster/behaviour", "devcluster/behaviour-image"
_DEFAULT_RUN = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """Simulated behavior of a pod. `runs_for` is the seconds until the containers exit, or None."""

    crashes: bool = False
    exit_code: int = 0
    reason: str = "Completed"
    message: str = ""
    pull_fails: bool = False
    never_ready: bool = False
    stuck_init: bool = False
    never_ends: bool = False
    runs_for: float | None = None


def behaviour_of(pod: Obj) -> Behaviour:
    """Return the behavior specified by the pod's annotations. An unknown behavior is ignored."""
    notes = meta(pod).get("annotations") or {}
    image = notes.get(IMAGE_ANNOTATION)
    mended = image and all(c.get("image") != image for c in dicts(dig(pod, "spec.containers")))
    text = "" if mended else str(notes.get(ANNOTATION, ""))
    word, _, rest = text.partition(" ")
    cause, _, detail = rest.partition(" ")
    seconds = float(rest) if rest.replace(".", "", 1).isdigit() else _DEFAULT_RUN
    match word:
        case "crash" if cause == "oom":
            if detail and _may_use(pod, detail):
                return Behaviour()
            return Behaviour(crashes=True, exit_code=137, reason="OOMKilled")
        case "crash":
            return Behaviour(crashes=True, exit_code=1, reason="Error", message=detail)
        case "pull-fails":
            return Behaviour(pull_fails=True)
        case "never-ready":
            return Behaviour(never_ready=True)
        case "init-stuck":
            return Behaviour(stuck_init=True)
        case "never-ends":
            return Behaviour(never_ends=True)
        case "runs":
            return Behaviour(runs_for=seconds)
        case "fails":
            return Behaviour(runs_for=seconds, exit_code=1, reason="Error")
    restarts = (pod.get("spec") or {}).get("restartPolicy", "Always")
    # A container with stdin exits when its user ends the session.
    typed = any(one.get("stdin") for one in dicts(dig(pod, "spec.containers")))
    endless = restarts == "Always" or typed
    return Behaviour() if endless else Behaviour(runs_for=_DEFAULT_RUN)


def _may_use(pod: Obj, memory: str) -> bool:
    limits = (dig(one, "resources.limits.memory") for one in dicts(dig(pod, "spec.containers")))
    return all(limit is None or parse_quantity(limit) >= parse_quantity(memory) for limit in limits)
