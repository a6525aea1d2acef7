"""Lists and pages of the types that the console doesn't declare, in the server's columns."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube import tables
from console.kube.gvr import GVR
from console.kube.runtime import Runtime
from console.ui.core.clusters import clusters
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.grants import rule
from tests.contract.objects import unique
from tests.contract.pages import Person, console_on, person
from tests.controlplane.waiting import eventually
from tests.live.conftest import Browser
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site
from tests.views.viewers import VIEWERS

__all__ = ["_site"]

POLICIES = GVR("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies")
TEMPLATES = GVR("", "v1", "podtemplates")
SLOW = 20.0


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


@pytest.fixture
def policy(cleanup: Cleanup) -> Obj:
    body = {
        "apiVersion": POLICIES.group_version,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": unique("policy"), "labels": {"team": "deck"}},
        "spec": {
            "failurePolicy": "Ignore",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": ["x.example.org"],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["nothings"],
                    }
                ]
            },
            "validations": [{"expression": "true"}, {"expression": "1 < 2"}],
        },
    }
    return cleanup.create(POLICIES.path(), body)


def template(name: str) -> Obj:
    pod = {"spec": {"containers": [{"name": "app", "image": "registry.example.org/a:1"}]}}
    return {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": name},
        "template": {"metadata": {"labels": {"app": name}}, **pod},
    }


async def get(who: str, url: str) -> tuple[int, str]:
    answer = await ClientAs()(who).get(url)
    return answer.status_code, await text_of(answer)


async def loaded(who: str, url: str) -> str:
    """Return the page once it has loaded."""
    deadline = time.monotonic() + SLOW
    while True:
        code, text = await get(who, url)
        if code != 503 or time.monotonic() > deadline:
            assert code == 200, text.partition("<main")[2]
            return text


async def items(who: str, url: str) -> dict[str, dict[str, Any]]:
    found = json.loads(await loaded(who, f"{url}?format=json"))
    return {item["name"]: item for item in found["items"]}


@pytest.mark.newer_kubernetes
async def test_every_listable_type_of_discovery_has_a_list(editor: Person, admin: Client) -> None:
    kinds = clusters.host.kinds
    urls = {f"/clusters/host/{kind.segment}" for kind in (*kinds.offered, *kinds.customs)}
    missing = []
    for group in ("", *(one["name"] for one in admin.get("/apis").ok()["groups"])):
        root = f"/apis/{group}" if group else "/api"
        found = admin.get(root).ok()
        version = found["preferredVersion"]["version"] if group else "v1"
        for one in admin.get(f"{root}/{version}").ok()["resources"]:
            if "list" in one["verbs"] and "/" not in one["name"]:
                kind = kinds.find(GVR(group, version, one["name"]).qualified) or kinds.find(
                    one["name"]
                )
                if kind is None or f"/clusters/host/{kind.segment}" not in urls:
                    missing.append((group, one["name"]))
    assert missing == []
    page = await loaded(editor.name, "/clusters/host/resources")
    assert f'href="/clusters/host/{POLICIES.qualified}"' in page and "Other resources" in page


@pytest.mark.newer_kubernetes
async def test_list_has_the_columns_of_the_server(
    editor: Person, admin: Client, policy: Obj
) -> None:
    name, url = policy["metadata"]["name"], f"/clusters/host/{POLICIES.qualified}"
    accept = "application/json;as=Table;g=meta.k8s.io;v=v1"
    table = admin.with_headers(("Accept", accept)).get(POLICIES.path()).ok()
    heads = [column["name"] for column in table["columnDefinitions"]]
    (cells,) = [row["cells"] for row in table["rows"] if row["cells"][0] == name]
    shown = dict(zip(heads, cells, strict=True))
    item = (await items(editor.name, url))[name]
    assert (item["validations"], item["paramkind"]) == (shown["Validations"], shown["ParamKind"])
    html = await loaded(editor.name, f"{url}?sort=-validations&q={name}&label=team%3Ddeck")
    assert name in html and "ParamKind" in html
    # The plural alone is enough for Kubernetes' own types.
    assert name in await loaded(editor.name, f"/clusters/host/{POLICIES.resource}")


@pytest.mark.newer_kubernetes
@pytest.mark.django_db(transaction=True)
async def test_object_has_a_page_yaml_events_edit_and_delete(
    editor: Person, admin: Client, policy: Obj
) -> None:
    name = policy["metadata"]["name"]
    page = f"/clusters/host/{POLICIES.qualified}/{name}"
    html = await loaded(editor.name, page)
    assert f'href="{page}/edit"' in html and f'href="{page}/actions/delete"' in html
    assert "expression: 1 &lt; 2" in await loaded(editor.name, f"{page}/yaml")
    assert "kind: ValidatingAdmissionPolicy\n" in await loaded(editor.name, f"{page}?format=yaml")
    assert "failurePolicy: Ignore" in await loaded(editor.name, f"{page}/edit")
    assert (await get(editor.name, f"{page}/events"))[0] == 200
    assert (await get(editor.name, f"{page}-2"))[0] == 404


@pytest.mark.newer_kubernetes
@pytest.mark.django_db(transaction=True)
async def test_object_is_deleted_as_the_user(editor: Person, admin: Client, policy: Obj) -> None:
    page = editor.on("delete", POLICIES.qualified, policy)
    assert policy["metadata"]["name"] in await page.asks()
    await page.does(typed=policy["metadata"]["name"])
    assert admin.get(f"{POLICIES.path()}/{policy['metadata']['name']}").status == 404


@pytest.mark.django_db(transaction=True)
async def test_namespaced_objects_are_shown_as_the_user(
    editor: Person, admin: Client, namespace: str, cleanup: Cleanup, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = unique("template")
    admin.post(TEMPLATES.path(namespace), template(name)).ok()
    url = "/clusters/host/podtemplates"
    item = (await items(editor.name, f"{url}"))[name]
    assert item["namespace"] == namespace
    page = f"/clusters/host/projects/{namespace}/podtemplates/{name}"
    assert "registry.example.org/a:1" in await loaded(editor.name, f"{page}/yaml")
    # The console allows this user everything, but kube-apiserver nothing.
    stranger = person(monkeypatch, cleanup, namespace)
    for where in (url, page, f"{page}?format=yaml", f"{page}/edit"):
        code, text = await get(stranger.name, where)
        assert code == 403 and "registry.example.org" not in text, where
    # The console itself refuses a user without permissions.
    for where in (url, page):
        assert (await get("charlie", where))[0] == 403


async def test_open_list_is_updated(editor: Person, admin: Client, namespace: str) -> None:
    url = f"/clusters/host/podtemplates?namespace={namespace}"
    first, second = unique("template"), unique("template")
    admin.post(TEMPLATES.path(namespace), template(first)).ok()
    html = await loaded(editor.name, url)
    assert first in html
    browser = Browser(VIEWERS[editor.name]())
    assert await browser.connect()
    etag = html.partition('data-etag="')[2].partition('"')[0]
    await browser.say(json.dumps({"subscribe": url, "etag": etag, "lang": "en", "rows": []}))
    admin.post(TEMPLATES.path(namespace), template(second)).ok()
    while second not in await browser.frame():
        pass
    admin.delete(f"{TEMPLATES.path(namespace)}/{first}").ok()
    while first not in await browser.frame():
        pass
    await browser.leave()


METRICS = GVR("metrics.k8s.io", "v1beta1", "pods")


async def test_types_without_watch_and_delete_are_listed_again_and_not_offered_for_change(
    editor: Person,
    admin: Client,
    namespace: str,
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "INTERVAL", 0.2)
    kind = clusters.host.kinds.find(METRICS.qualified)
    if kind is None:
        # The real control plane has no metrics-server, but another type without these verbs.
        kind = clusters.host.kinds.find("componentstatuses")
    assert kind is not None
    assert not kind.serves("watch") and not kind.serves("delete")
    url = f"/clusters/host/{kind.segment}"
    html = await loaded(editor.name, url)
    assert "/actions/delete" not in html and "/import" not in html.partition("<main")[2]
    found = await items(editor.name, url)
    for name, item in [*found.items()][:1]:
        inside = f"/projects/{item['namespace']}" if item["namespace"] else ""
        page = f"/clusters/host{inside}/{kind.segment}/{name}"
        html = await loaded(editor.name, page)
        assert "/edit" not in html.partition("<main")[2] and "/actions/" not in html
        assert f"name: {name}" in await loaded(editor.name, f"{page}?format=yaml")
        for denied in ("edit", "actions/delete", "actions/labels"):
            assert (await get(editor.name, f"{page}/{denied}"))[0] == 404
