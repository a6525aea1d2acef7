"""Definitions of custom resources."""

from console.kube.gvr import GVR
from tests.rbac.fakes import Manifest


def definition(gvr: GVR) -> Manifest:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": gvr.qualified, "uid": gvr.qualified, "resourceVersion": "1"},
        "spec": {
            "group": gvr.group,
            "scope": "Cluster",
            "names": {"plural": gvr.resource, "kind": gvr.resource.title()},
            "versions": [{"name": gvr.version, "served": True, "storage": True}],
        },
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    }
