"""The reader's ClusterRole (`manifests/reader.yaml`): what the shared cache may follow, and no more.

`manage.py readerrole` writes the file anew; a test compares the two.
"""

from collections import defaultdict
from itertools import chain

import yaml

from console.kube.gvr import NODE_METRICS, POD_METRICS
from console.kube.projections import DECODERS
from console.kube.uncached import UNCACHED

_HEAD = """\
# What the shared cache is filled with: the types of the console's kinds. Never Secrets: listing them is
# reading them. No `get`: single objects are fetched as the user. metrics.k8s.io has no watch.
# Written by `manage.py readerrole`.
"""


def reader_role() -> str:
    """The manifest, as it is in its file."""
    groups: dict[str, set[str]] = defaultdict(set)
    for gvr in chain(DECODERS.keys() - UNCACHED.keys(), (NODE_METRICS, POD_METRICS)):
        groups[gvr.group].add(gvr.resource)
    rules = [
        {
            "apiGroups": [group],
            "resources": sorted(resources),
            "verbs": ["list"] if group == POD_METRICS.group else ["list", "watch"],
        }
        for group, resources in sorted(groups.items())
    ]
    manifest = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {
            "name": "quarterdeck-reader",
            "labels": {"app.kubernetes.io/managed-by": "quarterdeck"},
        },
        "rules": [*rules, {"nonResourceURLs": ["/livez", "/readyz", "/version"], "verbs": ["get"]}],
    }
    return _HEAD + yaml.safe_dump(manifest, sort_keys=False)
