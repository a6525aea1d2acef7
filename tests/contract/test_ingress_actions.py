"""Editing the rules and certificates of an Ingress."""

import html
import json
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import INGRESSES, SERVICES, Key
from console.kube.runtime import Runtime
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.grants import rule
from tests.contract.objects import path, unique
from tests.contract.pages import (
    Page,
    Person,
    console_on,
    known,
    person,
    recorded,
    refused_to_strangers,
)
from tests.contract.test_service_actions import drawn
from tests.contract.tidy import Scrap
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
GROUP = "networking.k8s.io"


def to(service: str, port: int | str = 80) -> Obj:
    named = {"number" if isinstance(port, int) else "name": port}
    return {"service": {"name": service, "port": named}}


def lead(where: str, backend: Obj, kind: str = "Prefix") -> Obj:
    return {"path": where, "pathType": kind, "backend": backend}


BUCKET = {"resource": {"apiGroup": "example.com", "kind": "Bucket", "name": "static"}}
RULES = [
    {
        "host": "shop.example.com",
        "http": {"paths": [lead("/", to("web")), lead("/a", to("api", "http"))]},
    },
    {"host": "alone.example.com"},
    {"http": {"paths": [lead("/static", BUCKET, "Exact")]}},
]
TLS = [{"hosts": ["shop.example.com"], "secretName": "shop-tls"}]
SPEC = {"ingressClassName": "nginx", "rules": RULES, "tls": TLS, "defaultBackend": to("other")}


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [INGRESSES, SERVICES]) as found:
        yield found


@pytest.fixture
def olga(monkeypatch: pytest.MonkeyPatch, scrap: Scrap, namespace: str) -> Person:
    return person(monkeypatch, scrap, namespace, rule("get list patch", "ingresses", GROUP))


def at(namespace: str, name: str = "") -> str:
    return path(namespace, "ingresses", name, group=f"{GROUP}/v1")


def make(admin: Client, runtime: Runtime, namespace: str, **more: Any) -> Obj:
    body = {"metadata": {"name": unique("shop")}, "spec": {**SPEC, **more}}
    made: Obj = admin.post(at(namespace), body).ok()
    known(runtime, INGRESSES, made)
    return made


def spec_of(admin: Client, made: Obj) -> dict[str, Any]:
    meta = made["metadata"]
    found: dict[str, Any] = admin.get(at(meta["namespace"], meta["name"])).ok()["spec"]
    return found


async def form_of(olga: Person, made: Obj) -> tuple[Page, dict[str, str]]:
    page = olga.on("rules", "ingresses", made)
    return page, drawn(await page.asks())


async def test_paths_are_changed_added_and_removed(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace)
    assert made["spec"] == SPEC
    name = made["metadata"]["name"]
    page, sent = await form_of(olga, made)
    assert await page.is_offered("ingresses", Key(namespace, name))
    changed = {
        "paths-0-service": "web2",
        "paths-0-port": "8080",
        "paths-1-remove": "on",
        "paths-4-host": "alone.example.com",
        "paths-4-path": "/new",
        "paths-4-service": "new",
        "paths-4-port": "http",
    }
    await page.does(**{**sent, **changed})
    shop = {"host": "shop.example.com", "http": {"paths": [lead("/", to("web2", 8080))]}}
    alone = {"host": "alone.example.com", "http": {"paths": [lead("/new", to("new", "http"))]}}
    assert spec_of(admin, made) == {**SPEC, "rules": [shop, alone, RULES[2]]}
    assert await recorded() == [(olga.name, "patch", "rules", name, 200)]


async def test_a_path_can_be_moved_to_another_host(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace)
    page, sent = await form_of(olga, made)
    await page.does(**{**sent, "paths-1-host": "api.example.com", "paths-2-remove": "on"})
    shop = {"host": "shop.example.com", "http": {"paths": [lead("/", to("web"))]}}
    api = {"host": "api.example.com", "http": {"paths": [lead("/a", to("api", "http"))]}}
    assert spec_of(admin, made)["rules"] == [shop, api, RULES[2]]


async def test_certificates_are_changed_added_and_removed(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace)
    page, sent = await form_of(olga, made)
    more = {"tls-0-hosts": "shop.example.com, *.example.com", "tls-1-secret": "other-tls"}
    await page.does(**{**sent, **more})
    both = ["shop.example.com", "*.example.com"]
    wanted = [{"hosts": both, "secretName": "shop-tls"}, {"secretName": "other-tls"}]
    assert spec_of(admin, made) == {**SPEC, "tls": wanted}
    page, sent = await form_of(olga, made)
    await page.does(**{**sent, "tls-0-remove": "on", "tls-1-remove": "on"})
    assert "tls" not in spec_of(admin, made)


async def test_services_of_the_project_are_offered(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    name = unique("offered")
    body = {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}}
    known(runtime, SERVICES, admin.post(path(namespace, "services"), body).ok())
    made = make(admin, runtime, namespace)
    assert f'<option value="{name}">' in await olga.on("rules", "ingresses", made).asks()


async def test_concurrent_changes_cause_a_conflict(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace)
    page, sent = await form_of(olga, made)
    where = at(namespace, made["metadata"]["name"])
    theirs = admin.patch(where, {"spec": {"rules": RULES[:1]}}, MERGE_PATCH).ok()
    text = await page.refuses(409, **{**sent, "paths-0-service": "mine"})
    assert "The value of spec.rules has changed in the meantime." in text
    assert spec_of(admin, made) == theirs["spec"]


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        ({}, "", "No changes were made."),
        ({"paths-0-path": "a"}, "paths-0-path", "A path must start with “/”."),
        ({"paths-0-path": ""}, "paths-0-path", "Enter a path"),
        ({"paths-0-service": ""}, "paths-0-service", "Enter a service."),
        ({"paths-0-port": ""}, "paths-0-port", "Enter a port."),
        ({"paths-0-port": "0"}, "paths-0-port", "Enter a port number up to 65535"),
        ({"paths-3-service": "web"}, "paths-3-port", "Enter a port."),
        ({"paths-0-type": "Regex"}, "paths-0-type", "no longer available"),
        ({"paths-0-host": "a b"}, "paths-0-host", "“a b” is not a valid host name"),
        ({"paths-0-host": "<script>"}, "paths-0-host", "“<script>” is not a valid host name"),
        ({"paths-4-host": "new.example.com"}, "paths-4-path", "Enter a path"),
        ({"tls-0-hosts": "a_b"}, "tls-0-hosts", "“a_b” is not a valid host name"),
        ({"was": '{"rules": [{"http": {}}]}'}, "", "The form is incomplete."),
        ({"was": '{"rules": [{"host": 1}]}'}, "", "The form is incomplete."),
        ({"was": '{"tls": [{"hosts": [1]}]}'}, "", "The form is incomplete."),
    ],
)
async def test_invalid_ingress_values_are_reported_at_the_field(
    admin: Client,
    runtime: Runtime,
    namespace: str,
    olga: Person,
    typed: dict[str, str],
    field: str,
    said: str,
) -> None:
    made = make(admin, runtime, namespace)
    page, sent = await form_of(olga, made)
    assert said in html.unescape(await page.refuses(400, **{**sent, **typed}))
    status = await page.status(**{**sent, **typed})
    assert status["code"] == 400
    assert (field or "__all__") in [cause["field"] for cause in status["details"]["causes"]]
    assert spec_of(admin, made) == made["spec"]


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"paths-4-path": "/a//b/..", "paths-4-service": "a", "paths-4-port": "1"}, "paths-4-path"),
        ({"paths-1-service": "-web"}, "paths-1-service"),
    ],
    ids=["path", "service"],
)
async def test_validation_errors_of_the_cluster_are_reported_at_the_row(
    admin: Client,
    runtime: Runtime,
    namespace: str,
    olga: Person,
    typed: dict[str, str],
    field: str,
) -> None:
    made = make(admin, runtime, namespace)
    page, sent = await form_of(olga, made)
    new = {"paths-4-type": "Prefix", "paths-4-host": ""}
    assert f'href="#form-{field}"' in await page.refuses(422, **{**sent, **new, **typed})
    assert spec_of(admin, made) == made["spec"]


async def test_an_ingress_without_rules_requires_a_default_backend(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace)
    all_of_them = {f"paths-{n}-remove": "on" for n in range(4)}
    page, sent = await form_of(olga, made)
    await page.does(**{**sent, **all_of_them})
    assert "rules" not in spec_of(admin, made)
    only = make(admin, runtime, namespace, defaultBackend=None)
    page, sent = await form_of(olga, only)
    status = await page.status(**{**sent, **all_of_them})
    assert status["code"] == 422 and "must be specified" in json.dumps(status)
    assert spec_of(admin, only) == only["spec"]


async def test_users_without_permission_cannot_edit_rules(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace)
    await refused_to_strangers(olga.on("rules", "ingresses", made), "")
    assert spec_of(admin, made) == made["spec"]
