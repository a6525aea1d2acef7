"""Compare objects of two runs."""

import json
import re
from typing import Any

from tests.contract.client import Obj


def comparable(obj: Obj | None, name: str) -> Any:
    """Return the object without names, timestamps, and controller annotations, for comparison."""
    if obj is None:
        return None
    about = obj["metadata"]
    notes = {k: v for k, v in about.get("annotations", {}).items() if k not in _NOTED}
    labels = about.get("labels", {})
    spec = dict(obj.get("spec", {}))
    if obj["kind"] == "Node":
        labels = {k: v for k, v in labels.items() if not k.startswith("beta.kubernetes.io/")}
        there = spec.get("taints", ())
        spec["taints"] = [one for one in there if not one["key"].startswith("node.kubernetes.io/")]
    if obj["kind"] == "Service":
        spec = {k: v for k, v in spec.items() if k not in ("clusterIP", "clusterIPs")}
        spec["ports"] = [{**one, "nodePort": "nodePort" in one} for one in spec["ports"]]
    conditions = obj.get("status", {}).get("conditions") or ()
    found = {
        **{key: value for key, value in obj.items() if key not in ("metadata", "status")},
        "metadata": {"labels": labels, "annotations": notes},
        "owners": [(one["kind"], one["name"]) for one in about.get("ownerReferences", ())],
        "spec": spec,
        "verdicts": [one["type"] for one in conditions if one["type"] in ("Approved", "Denied")],
    }
    text = json.dumps(found, sort_keys=True).replace(name, "NAME").replace(about["uid"], "UID")
    text = re.sub(r"kube-api-access-\w+", "TOKEN", text)
    return json.loads(re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?([+-]\d\d:\d\d)?", "TIME", text))


_NOTED = (
    "deployment.kubernetes.io/revision",
    "deprecated.daemonset.template.generation",
    "node.alpha.kubernetes.io/ttl",
)
