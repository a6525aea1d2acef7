"""Editing the ports, selector, and session affinity of a service."""

import html
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import SERVICES, Key
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
from tests.contract.tidy import Scrap
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
PORTS = [
    {"name": "web", "port": 80, "targetPort": "http", "appProtocol": "http"},
    {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 5353},
]


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [SERVICES]) as found:
        yield found


@pytest.fixture
def olga(monkeypatch: pytest.MonkeyPatch, scrap: Scrap, namespace: str) -> Person:
    return person(monkeypatch, scrap, namespace, rule("get list patch", "services"))


def make(admin: Client, runtime: Runtime, namespace: str, **more: Any) -> Obj:
    spec = {"selector": {"app": "web", "tier": "front"}, "ports": PORTS, **more}
    body = {"metadata": {"name": unique("web")}, "spec": spec}
    made: Obj = admin.post(path(namespace, "services"), body).ok()
    known(runtime, SERVICES, made)
    return made


def spec_of(admin: Client, made: Obj) -> dict[str, Any]:
    meta = made["metadata"]
    where = path(meta["namespace"], "services", meta["name"])
    found: dict[str, Any] = admin.get(where).ok()["spec"]
    return found


def drawn(text: str) -> dict[str, str]:
    """Return the form data that a browser would submit without changes."""
    main = text.partition("<main")[2].partition("</main>")[0]
    form = re.sub(r"<template.*?</template>", "", main, flags=re.DOTALL)
    inputs = re.findall(r'<input type="(?:hidden|text|number)" ([^>]*)>', form)
    found = {}
    for attributes in inputs:
        name = re.search(r'name="([^"]+)"', attributes)
        value = re.search(r'value="([^"]*)"', attributes)
        assert name is not None
        found[name[1]] = html.unescape(value[1]) if value else ""
    areas = re.findall(r'<textarea name="([^"]+)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL)
    found |= {name: html.unescape(value) for name, value in areas}
    for name, options in re.findall(r'<select name="([^"]+)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options)
        first = re.search(r'value="([^"]*)"', options)
        assert first is not None
        found[name] = (chosen or first)[1]
    return {
        name: value for name, value in found.items() if name not in ("uid", "csrfmiddlewaretoken")
    }


async def form_of(olga: Person, made: Obj) -> tuple[Page, dict[str, str]]:
    page = olga.on("service", "services", made)
    return page, drawn(await page.asks())


async def test_ports_and_selector_are_changed_without_other_changes(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace, type="NodePort", externalTrafficPolicy="Local")
    name = made["metadata"]["name"]
    page, sent = await form_of(olga, made)
    assert await page.is_offered("services", Key(namespace, name))
    assert sent["selector"] == "app=web\ntier=front"
    assert (sent["ports-0-port"], sent["ports-0-target"]) == ("80", "http")
    assert sent["ports-1-protocol"] == "UDP"
    changed = {
        "selector": "app=shop",
        "ports-0-port": "8080",
        "ports-1-remove": "on",
        "ports-2-name": "metrics",
        "ports-2-port": "9090",
    }
    await page.does(**{**sent, **changed})
    before, now = made["spec"], spec_of(admin, made)
    first = {**before["ports"][0], "port": 8080}
    new = {"name": "metrics", "port": 9090, "protocol": "TCP", "targetPort": 9090}
    assert now["ports"][0] == first
    assert {**now["ports"][1], "nodePort": 0} == {**new, "nodePort": 0}
    assert now["selector"] == {"app": "shop"}
    rest = now.keys() - {"ports", "selector"}
    assert {key: now[key] for key in rest} == {key: before[key] for key in rest}
    assert await recorded() == [(olga.name, "patch", "service", name, 200)]


async def test_session_affinity_can_be_set_and_removed(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace)
    for sent, wanted in (
        ({"affinity": "ClientIP"}, {"clientIP": {"timeoutSeconds": 10800}}),
        ({"timeout": "60"}, {"clientIP": {"timeoutSeconds": 60}}),
        ({"timeout": ""}, {"clientIP": {"timeoutSeconds": 10800}}),
        ({"affinity": "None"}, None),
    ):
        page, drawn_fields = await form_of(olga, made)
        await page.does(**{**drawn_fields, **sent})
        now = spec_of(admin, made)
        assert now.get("sessionAffinityConfig") == wanted
        assert now["sessionAffinity"] == ("ClientIP" if wanted else "None")
        assert now["ports"] == made["spec"]["ports"]


async def test_the_selector_can_be_removed(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace, clusterIP="None")
    page, sent = await form_of(olga, made)
    await page.does(**{**sent, "selector": ""})
    assert "selector" not in spec_of(admin, made)


async def test_concurrent_changes_of_the_same_field_conflict(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace)
    page, sent = await form_of(olga, made)
    where = path(namespace, "services", made["metadata"]["name"])
    theirs = admin.patch(where, {"spec": {"selector": {"app": "theirs"}}}, MERGE_PATCH).ok()
    text = await page.refuses(409, **{**sent, "selector": "app=mine"})
    assert "The value of spec.selector has changed in the meantime." in text
    assert spec_of(admin, made) == theirs["spec"]
    # Fields that the other user did not change can still be saved.
    await page.does(**{**sent, "ports-0-port": "81"})
    assert spec_of(admin, made)["ports"][0]["port"] == 81
    assert spec_of(admin, made)["selector"] == theirs["spec"]["selector"]


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        ({}, "", "No changes were made."),
        ({"ports-0-port": "0"}, "ports-0-port", "Use a whole number from 1 to 65,535."),
        ({"ports-0-port": ""}, "ports-0-port", "Enter a port."),
        (
            {"ports-0-name": ""},
            "ports-0-name",
            "If a service has several ports, each port needs a name.",
        ),
        ({"ports-0-name": "dns"}, "ports-1-name", "A port with this name already exists."),
        ({"ports-0-name": "A_b"}, "ports-0-name", "Use up to 63 lowercase letters"),
        ({"ports-0-protocol": "ICMP"}, "ports-0-protocol", "no longer available"),
        ({"ports-0-protocol": ""}, "ports-0-protocol", "no longer available"),
        ({"ports-0-target": "70000"}, "ports-0-target", "Enter a port number up to 65535"),
        ({"ports-0-target": "a b"}, "ports-0-target", "or a port name"),
        ({"ports-0-target": "²"}, "ports-0-target", "or a port name"),
        ({"ports-2-name": "new"}, "ports-2-port", "Enter a port."),
        ({"selector": "app"}, "selector", "Line 1: Use key=value."),
        ({"selector": "app=web!"}, "selector", "is not a valid label"),
        ({"affinity": "Cookie"}, "affinity", "no longer available"),
        ({"timeout": "5"}, "timeout", "A session timeout requires session affinity."),
        ({"was": ""}, "was", ""),
        ({"was": "{"}, "", "The form is incomplete."),
        ({"was": "[" * 5000}, "", "The form is incomplete."),
        ({"was": '{"ports": 1}'}, "", "The form is incomplete."),
        ({"was": '{"ports": [{"port": "80"}]}'}, "", "The form is incomplete."),
        ({"was": '{"sessionAffinity": []}'}, "", "The form is incomplete."),
        ({"was": '{"type": "NodePort"}'}, "", "The form is incomplete."),
        ({"was": '{"selector": {"a": "\\ud800"}}'}, "", "The form is incomplete."),
    ],
)
async def test_invalid_service_values_are_reported_at_the_field(
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


async def test_validation_errors_of_the_cluster_are_reported_at_the_row(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    """Submit two rows with the same port."""
    made = make(admin, runtime, namespace)
    page, sent = await form_of(olga, made)
    typed = {**sent, "ports-2-name": "again", "ports-2-port": "80"}
    assert 'href="#form-ports-2-port">Port: Duplicate value' in await page.refuses(422, **typed)
    assert spec_of(admin, made) == made["spec"]


async def test_a_tampered_baseline_changes_nothing(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace)
    page, sent = await form_of(olga, made)
    was = json.loads(sent["was"])
    was["ports"][0]["nodePort"] = 1
    text = await page.refuses(409, **{**sent, "was": json.dumps(was), "ports-0-port": "81"})
    assert "The value of spec.ports has changed in the meantime." in text
    assert spec_of(admin, made) == made["spec"]


async def test_external_name_services_have_no_ports_to_edit(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace, type="ExternalName", externalName="a.example.com")
    page = olga.on("service", "services", made)
    assert not await page.is_offered("services", Key(namespace, made["metadata"]["name"]))


async def test_users_without_permission_cannot_edit_a_service(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace)
    await refused_to_strangers(olga.on("service", "services", made), "")
    assert spec_of(admin, made) == made["spec"]
