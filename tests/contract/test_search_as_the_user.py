"""The search in types that the cache doesn't follow."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import GVR, SECRETS
from console.kube.runtime import Runtime
from console.ui.core.clusters import clusters
from console.ui.search import uncached
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.crds import definition, establish, widget
from tests.contract.grants import rule
from tests.contract.objects import unique
from tests.contract.pages import Person, console_on, person
from tests.controlplane.waiting import eventually
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

CLASSES = GVR("storage.k8s.io", "v1", "csidrivers")


@pytest.fixture(scope="module")
def _console(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, []) as runtime:
        eventually(lambda: clusters.host.kinds.served.find("", "pods"), "discovery is read")
        yield runtime


@pytest.fixture
def editor(
    _console: Runtime, monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str
) -> Person:
    """A user with all permissions."""
    return person(monkeypatch, cleanup, namespace, rule("*", "*", "*"))


def driver(cleanup: Cleanup, label: str) -> Obj:
    body = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": unique("driver"), "labels": {"vendor": label}},
        "spec": {"attachRequired": False},
    }
    made: Obj = cleanup.create(CLASSES.path(), body)
    return made


async def search(who: str, text: str) -> dict[str, Any]:
    answer = await ClientAs()(who).get(f"/search?format=json&q={text}")
    found: dict[str, Any] = json.loads(await text_of(answer))
    assert answer.status_code == 200, found
    return found


def hits(found: dict[str, Any], resource: str) -> dict[str, Any]:
    return {
        item["name"]: item
        for group in found["groups"]
        if group["resource"] == resource
        for item in group["items"]
    }


async def test_objects_are_found_by_name_and_label_with_the_matched_text(
    editor: Person, cleanup: Cleanup
) -> None:
    label = unique("acme")
    made = driver(cleanup, label)
    name = made["metadata"]["name"]
    (item,) = hits(await search(editor.name, name), CLASSES.qualified).values()
    assert item["url"] == f"/clusters/host/{CLASSES.qualified}/{name}"
    assert item["matches"] == [{"field": "name", "text": name}]
    for query in (label, f"vendor%3D{label}", f"csidrivers {label[:-2]}"):
        (item,) = hits(await search(editor.name, query), CLASSES.qualified).values()
        assert item["matches"] == [{"field": "label", "text": f"vendor={label}"}], query
    # The page shows results of the cache first, and loads the others.
    html = await text_of(await ClientAs()(editor.name).get(f"/search?q={label}"))
    assert "Searching" in html and "<mark>" not in html and "No objects found" not in html
    html = await text_of(await ClientAs()(editor.name).get(f"/search?q={label}&all=1"))
    assert "Searching" not in html
    assert f"vendor=<mark>{label}</mark>" in re.sub(r"\s+", " ", html)
    # Typing in the palette does not send requests for every type.
    html = await text_of(await ClientAs()(editor.name).get(f"/palette?q={name}"))
    assert f"{CLASSES.qualified}/{name}" not in html


async def test_custom_resources_that_are_not_watched_are_found(
    editor: Person, admin: Client, cleanup: Cleanup, namespace: str
) -> None:
    crd = definition()
    where = establish(admin, cleanup, crd, namespace)
    name, segment = unique("w"), crd["metadata"]["name"]
    admin.post(where, widget(crd, name, size=1)).ok()
    eventually(lambda: clusters.host.kinds.find(segment), "the type is known")
    assert name in hits(await search(editor.name, name), segment)


async def test_annotations_and_values_of_secrets_are_not_searched(
    editor: Person, admin: Client, namespace: str
) -> None:
    name, value = unique("secret"), unique("canary")
    meta = {"name": name, "annotations": {"note": value}}
    body = {"metadata": meta, "stringData": {value: value}}
    admin.post(SECRETS.path(namespace), body).ok()
    assert name in hits(await search(editor.name, name), "secrets")
    found = await search(editor.name, value)
    assert not hits(found, "secrets") and found["total"] == 0


async def test_refused_types_are_named_and_hidden_types_are_not(
    _console: Runtime,
    cleanup: Cleanup,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = driver(cleanup, "x")
    # The console allows this user everything, but kube-apiserver nothing.
    stranger = person(monkeypatch, cleanup, namespace)
    found = await search(stranger.name, made["metadata"]["name"])
    assert not hits(found, CLASSES.qualified)
    reasons = {one["resource"]: one["reason"] for one in found["notSearched"]}
    assert reasons[CLASSES.qualified] == "the cluster rejected the request"
    found = await search("charlie", made["metadata"]["name"])
    assert (found["groups"], found["notSearched"]) == ([], [])


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("MOST_TYPES", 0, "too many types to search"),
        ("MOST_REQUESTS", 0, "too many projects to search"),
        ("MOST_OBJECTS", 1, "too many objects to search all of them"),
        ("SECONDS", 0.0, "the cluster did not respond in time"),
    ],
)
async def test_limits_are_named_as_the_reason(
    editor: Person,
    cleanup: Cleanup,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    value: float,
    reason: str,
) -> None:
    driver(cleanup, "one")
    made = driver(cleanup, "two")
    monkeypatch.setattr(uncached, limit, value)
    found = await search(editor.name, made["metadata"]["name"])
    reasons = {one["resource"]: one["reason"] for one in found["notSearched"]}
    assert reasons[CLASSES.qualified] == reason
    html = await text_of(await ClientAs()(editor.name).get("/search?q=x&all=1"))
    assert reason in html
