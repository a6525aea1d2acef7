"""Write `devcluster/schemas.json.xz`: the OpenAPI v3 schemas of Kubernetes' built-in types.

The embedded cluster serves these schemas, so that the editor completes fields and `kubectl explain`
documents them. This script reads the schemas from the kube-apiserver that tests/controlplane builds,
and keeps those of the types that the embedded cluster serves, with all schemas they refer to. The
descriptions are part of Kubernetes (Apache License 2.0, as this project). Run it after an update of
the Kubernetes version:

    python -m scripts.builtin_schemas
"""

import json
import lzma
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from devcluster.builtins import builtin_types
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import eventually

TARGET = Path(__file__).parent.parent / "devcluster" / "schemas.json.xz"
_REFERENCE = re.compile(r'"#/components/schemas/([^"]+)"')
_KINDS = "x-kubernetes-group-version-kind"


def main() -> None:
    """Read the schemas and write the file."""
    served = {
        (one.group, version.name, one.kind) for one in builtin_types() for version in one.versions
    }
    known: dict[str, Any] = {}
    with ControlPlane(with_controllers=False) as cluster:
        eventually(lambda: "apis/apps/v1" in _documents(cluster), "the schemas are served")
        for group, version in sorted({(group, version) for group, version, _kind in served}):
            place = f"apis/{group}/{version}" if group else f"api/{version}"
            # The metrics API is not part of kube-apiserver.
            if place in _documents(cluster):
                document = cluster.api.get(f"/openapi/v3/{place}").json()
                known |= document["components"]["schemas"]
    found = {name: known[name] for name in sorted(_needed(known, served))}
    text = json.dumps(found, separators=(",", ":"), sort_keys=True)
    TARGET.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def _documents(cluster: ControlPlane) -> dict[str, Any]:
    found: dict[str, Any] = cluster.api.get("/openapi/v3").json()["paths"]
    return found


def _needed(known: dict[str, Any], served: Iterable[tuple[str, str, str]]) -> set[str]:
    """Return the names of the served types' schemas and of all schemas they refer to."""
    served = {*served}
    ahead = [
        name
        for name, schema in known.items()
        for one in schema.get(_KINDS, ())
        if (one["group"], one["version"], one["kind"]) in served
    ]
    needed: set[str] = set()
    while ahead:
        name = ahead.pop()
        if name not in needed:
            needed.add(name)
            # Schemas that several versions share list all of their types, which are not needed.
            if len(known[name].get(_KINDS, ())) > 1:
                del known[name][_KINDS]
            ahead += _REFERENCE.findall(json.dumps(known[name]))
    return needed


if __name__ == "__main__":
    main()
