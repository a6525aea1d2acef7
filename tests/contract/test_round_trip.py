"""Round trips of manifests of every kind through the editor: saved unchanged, in another YAML
style, and with one changed value. Only that value may change.
"""

import base64
import re
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

import pytest
import yaml

from console.kube.gvr import BUILT_IN_GROUPS, CONFIG_MAPS, Key
from console.kube.runtime import Runtime
from console.ui.core.kind import ResourceKind, Scope
from console.ui.core.links import edit_url
from console.ui.core.registry import kinds
from console.ui.editing.yaml_text import parse_scalar, plain_yaml, read_yaml
from tests.contract.client import Answer, Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.crds import definition, establish, widget
from tests.contract.grants import rule
from tests.contract.objects import unique
from tests.contract.pages import console_on, person
from tests.contract.test_certificate_actions import asking
from tests.contract.test_edit import ODD, Form, cluster_of_host, form_of
from tests.contract.tidy import Scrap
from tests.controlplane.waiting import eventually
from tests.depth import SEED, number
from tests.kinds.world import fixture_of
from tests.views.conftest import ClientAs, _site
from tests.views.test_lists import text_of

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

#: Number of manifests over all kinds.
MANY = number(100, 2000)
#: The annotation that is changed. Every manifest has it.
CHANGED = "tests.example.com/changed"
#: Fields that the server sets, or that would delete the object early or block its deletion.
_LEFT_OUT = (
    *("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "generation"),
    *("ownerReferences", "finalizers"),
)
_STYLES = ('"', "'", "|", ">")
_POD_SPECS = (
    ("spec",),
    ("spec", "template", "spec"),
    ("spec", "jobTemplate", "spec", "template", "spec"),
)
_TOP_LEVEL = re.compile(r"^(?=[a-zA-Z])", re.MULTILINE)
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
    "certificatesigningrequests": {"spec": asking()},
}
BUILT_IN = [kind for kind in kinds if kind.gvr.group in BUILT_IN_GROUPS]


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [CONFIG_MAPS]) as found:
        yield found


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, scrap: Scrap, namespace: str, runtime: Runtime) -> str:
    """A user with all permissions."""
    return person(monkeypatch, scrap, namespace, rule("*", "*", "*")).name


@pytest.mark.alike
@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: str(kind.segment))
async def test_saving_a_manifest_keeps_unchanged_fields(
    admin: Client, scrap: Scrap, namespace: str, editor: str, kind: ResourceKind
) -> None:
    where = namespace if kind.scope is Scope.NAMESPACED else ""
    collection = kind.gvr.path(where)
    for turn in range(-(-MANY // len(BUILT_IN))):
        chance = Random(f"{SEED} {kind.segment} {turn}")  # noqa: S311
        made = create(admin, scrap, collection, bases(kind), chance, where)
        key = Key(where, made["metadata"]["name"])
        await goes_round(editor, edit_url("host", kind.segment, key), chance)
        admin.delete(f"{collection}/{key.name}")


async def test_saving_a_custom_resource_keeps_unchanged_fields(
    admin: Client, scrap: Scrap, namespace: str, editor: str
) -> None:
    crd = definition()
    collection = establish(admin, scrap, crd, namespace)
    segment = crd["metadata"]["name"]
    eventually(lambda: cluster_of_host().kinds.find(segment), "the kind is known")
    for turn in range(max(5, MANY // 20)):
        chance = Random(f"{SEED} {segment} {turn}")  # noqa: S311
        made = widget(crd, unique("w"), size=3, notes={"odd": anything(chance, 4)})
        made["metadata"]["annotations"] = {CHANGED: "no", **annotations(chance)}
        admin.post(collection, made).ok()
        key = Key(namespace, made["metadata"]["name"])
        await goes_round(editor, edit_url("host", segment, key), chance)


def create(
    admin: Client, scrap: Scrap, collection: str, found: list[Obj], chance: Random, namespace: str
) -> Obj:
    """Create an object from the first base that the cluster accepts. Real clusters require more
    fields than the fixtures have.
    """
    refusals = []
    for base in chance.sample(found, len(found)):
        body = varied(base, chance, namespace)
        answer = posted(admin, collection, body)
        if answer.status == 201:
            made: Obj = answer.ok()
            scrap.forget(f"{collection}/{made['metadata']['name']}")
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


def varied(base: Obj, chance: Random, namespace: str) -> Obj:
    """Return a variation of the object with unusual texts in its free-form fields."""
    body = {name: value for name, value in deepcopy(base).items() if name != "status"}
    metadata = {k: v for k, v in body.get("metadata", {}).items() if k not in _LEFT_OUT}
    metadata["name"] = name_of(body)
    metadata.pop("namespace", None)
    if namespace:
        metadata["namespace"] = namespace
    metadata["annotations"] = {CHANGED: "no", **annotations(chance)}
    body["metadata"] = metadata
    if body["kind"] == "Pod":
        # Pods on a missing node are deleted after a minute.
        body["spec"].pop("nodeName", None)
    if body["kind"] == "Event":
        body["involvedObject"]["namespace"] = namespace
    texts = {f"k{at}": text for at, text in enumerate(odd_texts(chance))}
    if body["kind"] == "ConfigMap":
        body["data"] = texts
    if body["kind"] == "Secret" and body.get("type", "Opaque") == "Opaque":
        body["data"] = {k: base64.b64encode(v.encode()).decode() for k, v in texts.items()}
    for steps in _POD_SPECS:
        for container in containers(body, steps):
            container["args"] = odd_texts(chance)
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


def odd_texts(chance: Random) -> list[str]:
    some = chance.sample(ODD, chance.randrange(1, 8))
    return [*some, "".join(chance.choices(ODD, k=3))]


def annotations(chance: Random) -> dict[str, str]:
    return {f"tests.example.com/k{at}": text for at, text in enumerate(odd_texts(chance))}


def anything(chance: Random, depth: int) -> Any:
    """Return a random JSON value that Kubernetes stores unchanged."""
    numbers = (0, -1, 2**63 - 1, -(2**63), 2**53 + 1, 0.1, -2.5e-7, 1e22, 1.5e300)
    leaves = (*numbers, True, False, *ODD)
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(leaves)
    inside = [anything(chance, depth - 1) for _ in range(chance.randrange(4))]
    keys = [chance.choice(["a", "1", "a.b/c", "yes", "<<", "", "null", "中", "-"]) for _ in inside]
    return inside if chance.random() < 0.5 else dict(zip(keys, inside, strict=True))


async def goes_round(who: str, url: str, chance: Random) -> None:
    opened = form_of(*await asked(who, url))
    assert opened.status == 200, opened.html
    for text in (opened.text, opened.text.replace("\n", "\r\n"), rewritten(opened.text, chance)):
        reviewed = await review(who, url, opened.with_text(text))
        assert (reviewed.status, reviewed.changed, reviewed.problems) == (200, [], []), text
    manifest = read_yaml(opened.text)
    manifest["metadata"]["annotations"][CHANGED] = "yes"
    text = rewritten(plain_yaml(manifest), chance)
    reviewed = await review(who, url, opened.with_text(text))
    assert reviewed.changed == [f'-{CHANGED}: "no"', f'+{CHANGED}: "yes"'], text
    saved = await asked(who, url, **reviewed.fields, step="save")
    assert saved[0] == 302, saved
    again = read_yaml(form_of(*await asked(who, url)).text)
    assert of_nobody_else(again) == of_nobody_else(manifest)


def of_nobody_else(manifest: Obj) -> Obj:
    """Return the manifest without values that controllers may change concurrently: their
    annotations, the rules of an aggregated role, and the labels and taints of a node.
    """
    metadata = manifest["metadata"]
    ours = {k: v for k, v in metadata["annotations"].items() if k.startswith("tests.example.com/")}
    found = {**manifest, "metadata": {**metadata, "annotations": ours}}
    if found["kind"] == "Node":
        del found["spec"]
        found["metadata"].pop("labels", None)
    if "aggregationRule" in found:
        found.pop("rules", None)
    return found


async def review(who: str, url: str, form: Form) -> Form:
    return form_of(*await asked(who, url, **form.fields, step="review"))


async def asked(who: str, url: str, **data: str) -> tuple[int, str]:
    client = ClientAs()(who)
    response = await (client.post(url, data) if data else client.get(url))
    return response.status_code, await text_of(response)


def rewritten(text: str, chance: Random) -> str:
    """Return the same values in another YAML style, with comments and with aliases for repeated
    values.
    """
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    assert node is not None
    width = chance.choice([40, 80, 10_000])
    seen: dict[str, yaml.Node] = {}
    found = yaml.serialize(
        restyled(node, chance, seen), allow_unicode=chance.random() < 0.5, width=width
    )
    # PyYAML's emitter has bugs: skip texts that it writes incorrectly.
    if yaml.safe_load(found) != yaml.safe_load(text):
        found = text
    return _TOP_LEVEL.sub("# a comment: {of a sort}\n", found) + "# the end"


def restyled(node: yaml.Node, chance: Random, seen: dict[str, yaml.Node]) -> yaml.Node:
    known = yaml.serialize(node)
    if known in seen and chance.random() < 0.5:
        return seen[known]
    made = node
    if isinstance(node, yaml.ScalarNode):
        if node.style or isinstance(parse_scalar(node.value), str):
            made = yaml.ScalarNode(
                "tag:yaml.org,2002:str", node.value, style=chance.choice(_STYLES)
            )
    elif isinstance(node, yaml.MappingNode):
        pairs = [(key, restyled(value, chance, seen)) for key, value in node.value]
        made = yaml.MappingNode(node.tag, pairs, flow_style=chance.random() < 0.2)
    else:
        items = [restyled(item, chance, seen) for item in node.value]
        made = yaml.SequenceNode(node.tag, items, flow_style=chance.random() < 0.2)
    return seen.setdefault(known, made)
