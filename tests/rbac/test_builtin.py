"""Built-in roles, which users can't change."""

from pathlib import Path

import yaml

from rbac.builtin import Origin, origin_of
from rbac.levels import Level

_MANIFESTS = Path(__file__).resolve().parents[2] / "manifests"


def test_all_roles_of_the_installation_manifests_are_built_in() -> None:
    documents = [
        one for path in _MANIFESTS.glob("*.yaml") for one in yaml.safe_load_all(path.read_text())
    ]
    names = {one["metadata"]["name"] for one in documents if one and one["kind"] == "ClusterRole"}
    assert names
    origins = {name: origin_of(Level.CLUSTER, name, {}) for name in names}
    assert origins == dict.fromkeys(names, Origin.BUILT_IN)
