"""What runs in the sample world, read from `catalog.yaml`."""

from functools import lru_cache
from pathlib import Path

import msgspec
import yaml

_FILE = Path(__file__).with_name("catalog.yaml")


class Home(msgspec.Struct, frozen=True):
    """A namespace: whose it is, and its age in days."""

    team: str
    age: float


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """`age`: days since it was made. `rolled`: days since its pods were. `behaviour`: see
    `controllers/behaviour.py`. `claim`: size of the volume that each pod has of its own. `init` and
    `sidecar`: names of further containers. `everywhere`: on the control plane's nodes too. `role`: of
    the nodes that its pods must be on."""

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
    namespaces: dict[str, Home]
    workloads: tuple[Workload, ...]


@lru_cache(maxsize=1)
def catalog() -> Catalog:
    return msgspec.convert(yaml.safe_load(_FILE.read_text()), Catalog)
