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
    for number, port in ((1, "9090"), (2, "9091")):
        if number > 1:
            page.locator("button[data-adds=new-ports]").click()
            expect(page.locator(f"[name=ports-{number}-name]")).to_be_focused()
        page.locator(f"[name=ports-{number}-name]").fill(f"extra-{number}")
        page.locator(f"[name=ports-{number}-port]").fill(port)
    page.locator("[name=ports-0-name]").fill("")
    operator.refused()
    # Both new rows are kept, and the error is shown at its field.
    expect(page.locator("[name=ports-2-port]")).to_have_value("9091")
    expect(page.locator("#form-ports-0-name_error")).to_be_visible()
    operator.picture("edit-service")
    page.locator("[name=ports-0-name]").fill("http")
    operator.confirm()
    ports = _spec(operator, "service")["ports"]
    assert isinstance(ports, list) and isinstance(before["ports"], list)
    assert [one["port"] for one in ports] == [before["ports"][0]["port"], 9090, 9091]


def test_changing_the_backend_of_a_path(operator: Operator) -> None:
    page, before = operator.page, _spec(operator, "ingress")
    operator.open(NAMESPACE, "ingresses", NAME)
    operator.act("rules")
    review = page.locator("form.confirm button[value=review]")
    top = review.evaluate("(one) => one.offsetTop")
    page.locator("[name=paths-1-path]").fill("/api")
    page.locator("[name=paths-1-service]").fill("gateway")
    page.locator("[name=paths-1-port]").fill("8080")
    expect(page.locator("#command-line code")).to_contain_text("8080")
    # The command has become longer, but the button has not moved.
    assert review.evaluate("(one) => one.offsetTop") == top
    operator.picture("edit-rules")
    operator.confirm()
    now = _spec(operator, "ingress")
    assert isinstance(now["rules"], list) and isinstance(before["rules"], list)
    assert now["rules"][0] == before["rules"][0]
    assert now["rules"][1]["http"]["paths"][0]["path"] == "/api"
    assert now["tls"] == before["tls"]
