"""Namespaces and workloads of the sample data, read from `catalog.yaml`."""

from functools import lru_cache
from pathlib import Path

import msgspec
import yaml

_FILE = Path(__file__).with_name("catalog.yaml")


class NamespaceEntry(msgspec.Struct, frozen=True):
    """A namespace with its team and its age in days."""

    team: str
    age: float


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """A workload of the sample data.

    - `age`: days since its creation.
    - `rolled`: days since its last rollout.
    - `behaviour`: see `controllers/behaviour.py`.
    - `claim`: size of the volume of each pod.
    - `init`, `sidecar`: names of additional containers.
    - `everywhere`: also runs on control plane nodes.
    - `role`: required node role.
    """

    namespace: str
    name: str
    kind: str
    image: str
    replicas: int = 0
    cpu: str = "100m"
    memory: str = "128Mi"
    age: float = 90
    rolled: float = 6
    port: int = 8080
    behaviour: str = ""
    claim: str = ""
    init: str = ""
    schedule: str = ""
    sidecar: str = ""
    everywhere: bool = False
    role: str = ""


class Catalog(msgspec.Struct, frozen=True):
    namespaces: dict[str, NamespaceEntry]
    workloads: tuple[Workload, ...]


@lru_cache(maxsize=1)
def catalog() -> Catalog:
    return msgspec.convert(yaml.safe_load(_FILE.read_text()), Catalog)
