"""Nodes of the sample data: three control plane nodes and nine workers in three zones."""

from collections.abc import Iterator

from devcluster.objects import Obj, timestamp

_ZONES = ("a", "b", "c")
_VERSION = "v1.36.2"
_CORDONED = "worker-7"


def nodes() -> Iterator[Obj]:
    for index in range(3):
        yield _node(f"control-{index + 1}", index, "control-plane", "4", 15, _ZONES[index])
    for index in range(9):
        name = f"worker-{index + 1}"
        yield _node(name, index + 3, "worker", "8", 31, _ZONES[index % 3])


def _node(name: str, index: int, role: str, cpu: str, memory: int, zone: str) -> Obj:
    address = f"10.20.{index // 3}.{10 + index}"
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        f"node-role.kubernetes.io/{role}": "",
        "topology.kubernetes.io/region": "eu-central",
        "topology.kubernetes.io/zone": f"eu-central-1{zone}",
        "node.kubernetes.io/instance-type": f"standard-{cpu}",
    }
    block = f"10.244.{index}.0/24"
    spec: Obj = {"podCIDR": block, "podCIDRs": [block], "providerID": f"sample://{name}"}
    if role == "control-plane":
        spec["taints"] = [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]
    if name == _CORDONED:
        spec["unschedulable"] = True
        taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
        spec["taints"] = [{**taint, "timeAdded": timestamp()}]
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": _status(address, name, cpu, memory),
    }


def _status(address: str, name: str, cpu: str, memory: int) -> Obj:
    capacity = {
        "cpu": cpu,
        "memory": f"{memory * 1024 * 1024}Ki",
        "ephemeral-storage": "203070420Ki",
        "pods": "110",
    }
    return {
        "addresses": [
            {"type": "InternalIP", "address": address},
            {"type": "Hostname", "address": name},
        ],
        "capacity": capacity,
        "allocatable": {**capacity, "memory": f"{memory * 1024 * 1024 - 512 * 1024}Ki"},
        "conditions": list(_conditions()),
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "architecture": "amd64",
            "operatingSystem": "linux",
            "kubeletVersion": _VERSION,
            "kubeProxyVersion": "",
            "kernelVersion": "6.12.48-cloud-amd64",
            "osImage": "Debian GNU/Linux 13 (trixie)",
            "containerRuntimeVersion": "containerd://2.2.0",
            "machineID": name,
            "systemUUID": name,
            "bootID": name,
        },
    }


def _conditions() -> Iterator[Obj]:
    now = timestamp()
    for kind, status, reason, message in (
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "sufficient PID available"),
        ("Ready", "True", "KubeletReady", "posting ready status"),
    ):
        yield {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": f"kubelet is {message}" if kind == "Ready" else f"kubelet has {message}",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
