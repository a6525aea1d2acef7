"""Containers on a real node."""

import subprocess

from tests.node.node import Obj, RealNode


def status(node: RealNode, pod: str, name: str) -> Obj:
    """Return the status of one container."""
    found = node.read(pod)["status"]["containerStatuses"]
    return next(one for one in found if one["name"] == name)


def restarted(pod: Obj) -> bool:
    """Return True if a container of the pod has crashed and runs again."""
    found = pod["status"].get("containerStatuses", ())
    return any(one["restartCount"] and "running" in one["state"] for one in found)


def run(node: RealNode, pod: str, script: str) -> subprocess.CompletedProcess[str]:
    return node.cluster.kubectl("exec", pod, "-c", "a", "--", "sh", "-c", script)
