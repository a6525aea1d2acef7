"""What becomes of a pod when somebody has left the shell that is the first process of a container."""

from devcluster.controllers.behaviour import Behaviour
from devcluster.controllers.containers import all_ready, crashed, debug_ended, ended, restarted
from devcluster.crud import Objects
from devcluster.objects import Obj, dicts, dig, timestamp
from devcluster.statuses import StatusError
from devcluster.streams.targets import Target
from devcluster.writes import Write


def end_container(objects: Objects, target: Target, code: int) -> None:
    """Writes it into the pod, if that is still there."""
    namespace, _, name = target.key.partition("/")

    def mutate(pod: Obj) -> Obj:
        return {**pod, "status": _after(pod, target, code)}

    try:
        pods = objects.registry.get("pods")
        objects.update(pods, "v1", namespace, name, mutate, Write(subresource="status"))
    except StatusError as error:
        if error.code != 404:
            raise


def _after(pod: Obj, target: Target, code: int) -> Obj:
    now, policy = timestamp(), dig(pod, "spec.restartPolicy")
    if target.name in [one.get("name") for one in dicts(dig(pod, "spec.ephemeralContainers"))]:
        return debug_ended(pod, target.name, code, now)
    if policy == "Never" or (policy == "OnFailure" and code == 0):
        return ended(pod, code, now)
    how = Behaviour(exit_code=code, reason="Completed" if code == 0 else "Error")
    stopped = {**pod, "status": crashed(pod, how, now, backing_off=False)}
    again = {**pod, "status": restarted(stopped, now)}
    return all_ready(again, now)
