"""What the containers of a pod do in the simulation, as an annotation of the pod says.

    devcluster/behaviour: crash oom        starts, is killed for its memory, starts again, …
    devcluster/behaviour: crash oom 600Mi  the same, unless it may use so much memory
    devcluster/behaviour: crash error …    the same with exit code 1, and the rest as its last words
    devcluster/behaviour: pull-fails       its image does not exist
    devcluster/behaviour: never-ready      runs, but its readiness probe fails
    devcluster/behaviour: init-stuck       its first init container never ends
    devcluster/behaviour: never-ends       does not stop when it is deleted
    devcluster/behaviour: runs 20          ends well after 20 seconds
    devcluster/behaviour: fails 20         ends badly after 20 seconds

    devcluster/behaviour-image: …          all that with this image alone: another one mends it
    devcluster/lines-per-second: 200       how much its containers write
    devcluster/log: …                      what they write when they start, and nothing else

Without it a pod runs until it is deleted; one that need not run for ever ends well after 15 s, unless
it has a container with stdin.
"""

from dataclasses import dataclass

from devcluster.objects import Obj, dicts, dig, meta
from devcluster.quantities import parse_quantity

ANNOTATION, IMAGE_ANNOTATION = "devcluster/behaviour", "devcluster/behaviour-image"
_DEFAULT_RUN = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """`runs_for`: seconds until the containers end by themselves; None for never."""

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
    """What the annotation says; an unknown word counts as none."""
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
    # Whoever types into a container says when it ends.
    typed = any(one.get("stdin") for one in dicts(dig(pod, "spec.containers")))
    endless = restarts == "Always" or typed
    return Behaviour() if endless else Behaviour(runs_for=_DEFAULT_RUN)


def _may_use(pod: Obj, memory: str) -> bool:
    limits = (dig(one, "resources.limits.memory") for one in dicts(dig(pod, "spec.containers")))
    return all(limit is None or parse_quantity(limit) >= parse_quantity(memory) for limit in limits)
