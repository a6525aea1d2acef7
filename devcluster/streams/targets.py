"""Which container of which pod is meant, and what is said where there is none."""

from dataclasses import dataclass

from devcluster.logs.runs import declared_containers, status_of
from devcluster.objects import Obj, dig, meta
from devcluster.statuses import bad_request
from devcluster.store import Record


class Refusal(Exception):
    """What a kubelet says: a text instead of a Status."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


@dataclass(frozen=True, slots=True)
class Target:
    """A container that runs. `started`: since when; `id`: of this run of it."""

    pod: Obj
    declared: Obj
    id: str
    started: str

    @property
    def name(self) -> str:
        return str(self.declared["name"])

    @property
    def reads(self) -> bool:
        """Whether its first process gets what is typed."""
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


def running_container(pod: Obj, name: str) -> Target | None:
    """None if it does not run."""
    declared = next((one for one in declared_containers(pod) if one["name"] == name), None)
    status = status_of(pod, name)
    start = dig(status, "state.running.startedAt")
    if declared is None or not start:
        return None
    return Target(pod, declared, str(status.get("containerID", "")), str(start))


def port_number(text: str) -> int:
    """0 for what is no port."""
    return int(text) if text.isdecimal() and 0 < int(text[:6]) < 65536 else 0
