"""Round trips of manifests of every kind through the editor: saved unchanged, in another YAML
style, and with one changed value. Only that value may change.
"""

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
import yaml

from console.kube.gvr import CONFIG_MAPS, Key
from console.kube.runtime import Runtime
from console.ui.core.kind import ResourceKind, Scope
from console.ui.core.links import edit_url
from console.ui.editing.yaml_text import parse_scalar, plain_yaml, read_yaml
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.crds import definition, establish, widget
from tests.contract.edit_forms import Form, form_of
from tests.contract.edit_pages import cluster_of_host
from tests.contract.grants import rule
from tests.contract.kind_objects import BUILT_IN, CHANGED, annotations, bases, create
from tests.contract.objects import unique
from tests.contract.odd_texts import ODD
from tests.contract.pages import console_on, person
from tests.controlplane.waiting import eventually
from tests.support.depth import SEED, number
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

#: Number of manifests over all kinds.
MANY = number(100, 2000)
_STYLES = ('"', "'", "|", ">")
_TOP_LEVEL = re.compile(r"^(?=[a-zA-Z])", re.MULTILINE)


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [CONFIG_MAPS]) as found:
        yield found


@pytest.fixture
def editor(
    monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str, runtime: Runtime
) -> str:
    """A user with all permissions."""
    return person(monkeypatch, cleanup, namespace, rule("*", "*", "*")).name


@pytest.mark.sampled
@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: str(kind.segment))
async def test_saving_a_manifest_keeps_unchanged_fields(
    admin: Client, cleanup: Cleanup, namespace: str, editor: str, kind: ResourceKind
) -> None:
    where = namespace if kind.scope is Scope.NAMESPACED else ""
    collection = kind.gvr.path(where)
    for turn in range(-(-MANY // len(BUILT_IN))):
        rng = Random(f"{SEED} {kind.segment} {turn}")  # noqa: S311
        made = create(admin, cleanup, collection, bases(kind), rng, where)
        key = Key(where, made["metadata"]["name"])
        await goes_round(editor, edit_url("host", kind.segment, key), rng)
        admin.delete(f"{collection}/{key.name}")


async def test_saving_a_custom_resource_keeps_unchanged_fields(
    admin: Client, cleanup: Cleanup, namespace: str, editor: str
) -> None:
    crd = definition()
    collection = establish(admin, cleanup, crd, namespace)
    segment = crd["metadata"]["name"]
    eventually(lambda: cluster_of_host().kinds.find(segment), "the kind is known")
    for turn in range(max(5, MANY // 20)):
        rng = Random(f"{SEED} {segment} {turn}")  # noqa: S311
        made = widget(crd, unique("w"), size=3, notes={"odd": anything(rng, 4)})
        made["metadata"]["annotations"] = {CHANGED: "no", **annotations(rng)}
        admin.post(collection, made).ok()
        key = Key(namespace, made["metadata"]["name"])
        await goes_round(editor, edit_url("host", segment, key), rng)


def anything(rng: Random, depth: int) -> Any:
    """Return a random JSON value that Kubernetes stores unchanged."""
    numbers = (0, -1, 2**63 - 1, -(2**63), 2**53 + 1, 0.1, -2.5e-7, 1e22, 1.5e300)
    leaves = (*numbers, True, False, *ODD)
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(leaves)
    inside = [anything(rng, depth - 1) for _ in range(rng.randrange(4))]
    keys = [rng.choice(["a", "1", "a.b/c", "yes", "<<", "", "null", "中", "-"]) for _ in inside]
    return inside if rng.random() < 0.5 else dict(zip(keys, inside, strict=True))


async def goes_round(who: str, url: str, rng: Random) -> None:
    opened = form_of(*await asked(who, url))
    assert opened.status == 200, opened.html
    for text in (opened.text, opened.text.replace("\n", "\r\n"), rewritten(opened.text, rng)):
        reviewed = await review(who, url, opened.with_text(text))
        assert (reviewed.status, reviewed.changed, reviewed.problems) == (200, [], []), text
    manifest = read_yaml(opened.text)
    manifest["metadata"]["annotations"][CHANGED] = "yes"
    text = rewritten(plain_yaml(manifest), rng)
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


def rewritten(text: str, rng: Random) -> str:
    """Return the same values in another YAML style, with comments and with aliases for repeated
    values.
    """
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    assert node is not None
    width = rng.choice([40, 80, 10_000])
    seen: dict[str, yaml.Node] = {}
    found = yaml.serialize(restyled(node, rng, seen), allow_unicode=rng.random() < 0.5, width=width)
    # PyYAML's emitter has bugs: skip texts that it writes incorrectly.
    if yaml.safe_load(found) != yaml.safe_load(text):
        found = text
    return _TOP_LEVEL.sub("# a comment: {of a sort}\n", found) + "# the end"


def restyled(node: yaml.Node, rng: Random, seen: dict[str, yaml.Node]) -> yaml.Node:
    known = yaml.serialize(node)
    if known in seen and rng.random() < 0.5:
        return seen[known]
    made = node
    if isinstance(node, yaml.ScalarNode):
        if node.style or isinstance(parse_scalar(node.value), str):
            made = yaml.ScalarNode("tag:yaml.org,2002:str", node.value, style=rng.choice(_STYLES))
    elif isinstance(node, yaml.MappingNode):
        pairs = [(key, restyled(value, rng, seen)) for key, value in node.value]
        made = yaml.MappingNode(node.tag, pairs, flow_style=rng.random() < 0.2)
    else:
        items = [restyled(item, rng, seen) for item in node.value]
        made = yaml.SequenceNode(node.tag, items, flow_style=rng.random() < 0.2)
    return seen.setdefault(known, made)
