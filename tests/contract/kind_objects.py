"""Objects of every built-in kind, with unusual texts in their fields."""

import base64
import re
from copy import deepcopy
from random import Random
from typing import Any

from console.kube.gvr import BUILT_IN_GROUPS
from console.ui.core.kind import ResourceKind
from console.ui.core.registry import kinds
from tests.contract.cleanup import Cleanup
from tests.contract.client import Answer, Client, Obj
from tests.contract.objects import unique
from tests.contract.odd_texts import ODD
from tests.contract.signing_requests import signing_request_spec
from tests.controlplane.waiting import eventually
from tests.kinds.world import fixture_of

#: The annotation that is changed. Every manifest has it.
CHANGED = "tests.example.com/changed"
#: Fields that the server sets, or that would delete the object early or block its deletion.
_LEFT_OUT = (
    *("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "generation"),
    *("ownerReferences", "finalizers"),
)


_POD_SPECS = (
    ("spec",),
    ("spec", "template", "spec"),
    ("spec", "jobTemplate", "spec", "template", "spec"),
)


_LABELS = {"app": "round"}
_POD_SPEC = {"containers": [{"name": "main", "image": "example/main:1"}]}
_ONCE = {"spec": {**_POD_SPEC, "restartPolicy": "Never"}}
_RUNS = {
    "selector": {"matchLabels": _LABELS},
    "template": {"metadata": {"labels": _LABELS}, "spec": _POD_SPEC},
}
#: Complete objects for kinds whose fixtures a cluster would reject as incomplete.
MORE: dict[str, Obj] = {
    "daemonsets": {"spec": _RUNS},
    "deployments": {"spec": {"replicas": 0, **_RUNS}},
    "replicasets": {"spec": {"replicas": 0, **_RUNS}},
    "statefulsets": {"spec": {"replicas": 0, "serviceName": "round", **_RUNS}},
    "jobs": {"spec": {"suspend": True, "template": _ONCE}},
    "cronjobs": {"spec": {"schedule": "@yearly", "jobTemplate": {"spec": {"template": _ONCE}}}},
    "certificatesigningrequests": {"spec": signing_request_spec()},
}
BUILT_IN = [kind for kind in kinds if kind.gvr.group in BUILT_IN_GROUPS]


def create(
    admin: Client, cleanup: Cleanup, collection: str, found: list[Obj], rng: Random, namespace: str
) -> Obj:
    """Create an object from the first base that the cluster accepts. Real clusters require more
    fields than the fixtures have.
    """
    refusals = []
    for base in rng.sample(found, len(found)):
        body = varied(base, rng, namespace)
        answer = posted(admin, collection, body)
        if answer.status == 201:
            made: Obj = answer.ok()
            cleanup.forget(f"{collection}/{made['metadata']['name']}")
            return made
        refusals.append(answer.body)
    raise AssertionError(refusals)


def posted(admin: Client, collection: str, body: Obj) -> Answer:
    """Create the object as soon as the namespace has the service account that admission requires."""
    found = eventually(
        lambda: (answer := admin.post(collection, body)).status != 403 and answer, "it is admitted"
    )
    assert found
    return found


def bases(kind: ResourceKind) -> list[Obj]:
    whole = {"apiVersion": kind.gvr.group_version, "kind": kind.api_kind}
    found = [MORE[kind.segment]] if kind.segment in MORE else []
    return [{**whole, **deepcopy(one)} for one in [*found, *fixture_of(kind)]]


def varied(base: Obj, rng: Random, namespace: str) -> Obj:
    """Return a variation of the object with unusual texts in its free-form fields."""
    body = {name: value for name, value in deepcopy(base).items() if name != "status"}
    metadata = {k: v for k, v in body.get("metadata", {}).items() if k not in _LEFT_OUT}
    metadata["name"] = name_of(body)
    metadata.pop("namespace", None)
    if namespace:
        metadata["namespace"] = namespace
    metadata["annotations"] = {CHANGED: "no", **annotations(rng)}
    body["metadata"] = metadata
    if body["kind"] == "Pod":
        # Pods on a missing node are deleted after a minute.
        body["spec"].pop("nodeName", None)
    if body["kind"] == "Event":
        body["involvedObject"]["namespace"] = namespace
    texts = {f"k{at}": text for at, text in enumerate(odd_texts(rng))}
    if body["kind"] == "ConfigMap":
        body["data"] = texts
    if body["kind"] == "Secret" and body.get("type", "Opaque") == "Opaque":
        body["data"] = {k: base64.b64encode(v.encode()).decode() for k, v in texts.items()}
    for steps in _POD_SPECS:
        for container in containers(body, steps):
            container["args"] = odd_texts(rng)
            container["env"] = [{"name": k.upper(), "value": v} for k, v in texts.items()]
    return body


def name_of(body: Obj) -> str:
    """Return a unique name. The name of a definition must match its contents."""
    name = unique("round")
    if body["kind"] != "CustomResourceDefinition":
        return name
    names = body["spec"]["names"]
    letters = re.sub("[^a-z]", "", name)
    body["spec"]["group"] = f"{name}.example.com"
    names.update(plural=f"{letters}s", singular=letters, kind=letters.capitalize())
    names.pop("listKind", None)
    return f"{letters}s.{name}.example.com"


def containers(body: Obj, steps: tuple[str, ...]) -> list[Obj]:
    found: Any = body
    for step in steps:
        found = found.get(step) if isinstance(found, dict) else None
    inside = found.get("containers") if isinstance(found, dict) else None
    return [one for one in inside if "image" in one] if isinstance(inside, list) else []


def odd_texts(rng: Random) -> list[str]:
    some = rng.sample(ODD, rng.randrange(1, 8))
    return [*some, "".join(rng.choices(ODD, k=3))]


def annotations(rng: Random) -> dict[str, str]:
    return {f"tests.example.com/k{at}": text for at, text in enumerate(odd_texts(rng))}
