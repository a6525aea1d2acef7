"""Registration of simulated nodes."""

from http import HTTPStatus
from typing import Any

from tests.controlplane.api import Api
from tests.controlplane.build import TOOLS, version_of

__all__ = ["register"]

_SIZE = {"cpu": "64", "memory": "512Gi", "pods": "500"}
_PER_SUBNET = 250


def register(api: Api, number: int) -> str:
    """Add the node with this number and return its name. The node is not ready until kwok updates
    it.
    """
    name = f"node-{number:04}"
    answer = api.request("POST", "/api/v1/nodes", _manifest(name, number))
    if answer.status != HTTPStatus.CREATED:
        raise OSError(f"node {name} was rejected: {answer.body.decode()}")
    return name


def _manifest(name: str, number: int) -> dict[str, Any]:
    address = f"10.127.{number // _PER_SUBNET}.{number % _PER_SUBNET + 1}"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "capacity": _SIZE,
            "allocatable": _SIZE,
            "addresses": [
                {"type": "InternalIP", "address": address},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": _info(),
        },
    }


def _info() -> dict[str, str]:
    """Return the node info. All fields are required but can be empty."""
    empty = ("bootID", "kernelVersion", "kubeProxyVersion", "machineID", "systemUUID")
    return {
        **dict.fromkeys(empty, ""),
        "architecture": "amd64",
        "operatingSystem": "linux",
        "osImage": "simulated",
        "containerRuntimeVersion": f"kwok://{version_of(TOOLS['kwok'])}",
        "kubeletVersion": version_of(TOOLS["kube-apiserver"]),
    }
