"""Simulated nodes, registered as their kubelets would register themselves."""

from http import HTTPStatus
from typing import Any

from tests.controlplane.api import Api
from tests.controlplane.build import TOOLS, version_of

__all__ = ["register"]

_SIZE = {"cpu": "64", "memory": "512Gi", "pods": "500"}
_PER_SUBNET = 250


def register(api: Api, number: int) -> str:
    """Adds the node with this number and returns its name; somebody else has to make it ready."""
    name = f"node-{number:04}"
    answer = api.request("POST", "/api/v1/nodes", _manifest(name, number))
    if answer.status != HTTPStatus.CREATED:
        raise OSError(f"node {name} was refused: {answer.body.decode()}")
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
    """All of these fields are required, and may be empty."""
    empty = ("bootID", "kernelVersion", "kubeProxyVersion", "machineID", "systemUUID")
    return {
        **dict.fromkeys(empty, ""),
        "architecture": "amd64",
        "operatingSystem": "linux",
        "osImage": "simulated",
        "containerRuntimeVersion": f"kwok://{version_of(TOOLS['kwok'])}",
        "kubeletVersion": version_of(TOOLS["kube-apiserver"]),
    }
