"""Which container of which pod is meant, and what is said where there is none."""

from collections.abc import Iterator
from dataclasses import dataclass

from devcluster.objects import Obj, dicts, dig, meta
from devcluster.statuses import bad_request
from devcluster.store import Record

_GROUPS = ("initContainers", "containers", "ephemeralContainers")


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


def declared_containers(pod: Obj) -> Iterator[Obj]:
    for group in _GROUPS:
        yield from (one for one in dicts(dig(pod, f"spec.{group}")) if one.get("name"))


def running_container(pod: Obj, name: str) -> Target | None:
    """None if it does not run."""
    declared = next((one for one in declared_containers(pod) if one["name"] == name), None)
    for group in _GROUPS:
        for status in dicts(dig(pod, f"status.{group[:-1]}Statuses")):
            start = dig(status, "state.running.startedAt")
            if status.get("name") == name and start and declared:
                return Target(pod, declared, str(status.get("containerID", "")), str(start))
    return None
