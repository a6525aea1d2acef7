"""Selection of the target container of a streaming request."""

from dataclasses import dataclass

from devcluster.errors import bad_request
from devcluster.logs.runs import declared_containers, status_of
from devcluster.objects import Obj, dig, meta
from devcluster.store import Record


class KubeletError(Exception):
    """Error response of a kubelet: plain text instead of a Status."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


@dataclass(frozen=True, slots=True)
class TargetContainer:
    """A running container. `started` is the start time and `id` the container ID of this run."""

    pod: Obj
    declared: Obj
    id: str
    started: str

    @property
    def name(self) -> str:
        return str(self.declared["name"])

    @property
    def reads(self) -> bool:
        """True if the main process reads stdin."""
        return bool(self.declared.get("stdin"))

    @property
    def tty(self) -> bool:
        return bool(self.declared.get("tty"))

    @property
    def key(self) -> str:
        about = meta(self.pod)
        return f"{about['namespace']}/{about['name']}"


def pod_on_node(record: Record) -> Obj:
    if not record.fields["spec.nodeName"]:
        raise bad_request(f"pod {record.name} does not have a host assigned")
    return record.load()


def running_container(pod: Obj, name: str) -> TargetContainer | None:
    """Return the container, or None if it is not running."""
    declared = next((one for one in declared_containers(pod) if one["name"] == name), None)
    status = status_of(pod, name)
    start = dig(status, "state.running.startedAt")
    if declared is None or not start:
        return None
    return TargetContainer(pod, declared, str(status.get("containerID", "")), str(start))


def port_number(text: str) -> int:
    """Return the port number, or 0 if the text is not a valid port."""
    return int(text) if text.isdecimal() and 0 < int(text[:6]) < 65536 else 0
