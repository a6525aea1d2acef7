"""Workloads without pods."""

from tests.contract.client import Obj
from tests.contract.objects import deployment


def stateful_set(name: str) -> Obj:
    return {"metadata": {"name": name}, "spec": {**_spec(name), "serviceName": name, "replicas": 0}}


def daemon_set(name: str) -> Obj:
    return {"metadata": {"name": name}, "spec": _spec(name)}


def _spec(name: str) -> Obj:
    spec: Obj = deployment(name, "example/zero:1", "example/one:1")["spec"]
    return {"selector": spec["selector"], "template": spec["template"]}


def job(name: str) -> Obj:
    container = {"name": "main", "image": "example/main:1"}
    about = {"labels": {"app": name}, "annotations": {"example.com/note": "of each pod"}}
    template = {"metadata": about, "spec": {"containers": [container], "restartPolicy": "Never"}}
    return {"metadata": {"name": name, "labels": {"app": name}}, "spec": {"template": template}}


def cron_job(name: str) -> Obj:
    made = job(name)
    made["metadata"]["annotations"] = {"example.com/note": "of each job"}
    return {
        "metadata": {"name": name},
        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": made, "suspend": False},
    }
