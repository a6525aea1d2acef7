"""Editing services and ingresses in a browser."""

import json

from playwright.sync_api import expect

from tests.browser.repairs.operator import Operator

NAMESPACE, NAME = "web", "storefront"


def _spec(operator: Operator, kind: str) -> dict[str, object]:
    found = operator.kubectl("get", kind, NAME, "-n", NAMESPACE, "-o", "json")
    spec: dict[str, object] = json.loads(found)["spec"]
    return spec


def test_adding_ports_to_a_service(operator: Operator) -> None:
    page, before = operator.page, _spec(operator, "service")
    operator.open(NAMESPACE, "services", NAME)
    operator.act("service")
    ports = "kind.cluster.ports"
    for number, port in ((1, "9090"), (2, "9091")):
        page.locator(f"button[value='act.{ports}.add']").click()
        expect(page.locator(f"[name='{ports}.{number}.name']")).to_be_focused()
        page.locator(f"[name='{ports}.{number}.name']").fill(f"extra-{number}")
        page.locator(f"[name='{ports}.{number}.port']").fill(port)
    page.locator(f"[name='{ports}.0.name']").fill("")
    operator.next()
    # Both new rows are kept, and the error is shown at its field.
    expect(page.locator(f"[name='{ports}.2.port']")).to_have_value("9091")
    expect(page.locator("#w-kind-cluster-ports-0-name-error")).to_be_visible()
    operator.picture("edit-service")
    page.locator(f"[name='{ports}.0.name']").fill("http")
    operator.next()
    operator.save()
    found = _spec(operator, "service")["ports"]
    assert isinstance(found, list) and isinstance(before["ports"], list)
    assert [one["port"] for one in found] == [before["ports"][0]["port"], 9090, 9091]


def test_changing_the_backend_of_a_path(operator: Operator) -> None:
    page, before = operator.page, _spec(operator, "ingress")
    operator.open(NAMESPACE, "ingresses", NAME)
    operator.act("rules")
    page.locator("button[value='act.rules.add']").click()
    page.locator("[name='rules.1.paths.0.path']").fill("/api")
    page.locator("[name='rules.1.paths.0.service']").fill("gateway")
    page.locator("[name='rules.1.paths.0.port']").fill("8080")
    operator.picture("edit-rules")
    operator.next()
    operator.save()
    now = _spec(operator, "ingress")
    assert isinstance(now["rules"], list) and isinstance(before["rules"], list)
    assert now["rules"][0] == before["rules"][0]
    assert now["rules"][1]["http"]["paths"][0]["path"] == "/api"
    assert now["tls"] == before["tls"]
