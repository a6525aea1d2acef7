"""Changes that assistants propose, and how the user applies them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.chromium import Chromium, need_chromium
from tests.gateway.assistant import Assistant
from tests.gateway.demo import Demo, download
from tests.support.demo import PASSWORD

pytestmark = pytest.mark.programs

PLACE = {"kind": "deployments", "namespace": "payments"}


@pytest.fixture
def page(demo: Demo) -> Iterator[Page]:
    """Yield a page of Alice, who is signed in."""
    need_chromium("proposals of assistants")
    with sync_playwright() as playwright:
        browser = Chromium(playwright)
        page = browser.new_context(locale="en-GB").new_page()
        page.goto(f"{demo.url}/login")
        page.get_by_label("Username").fill("alice")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page).not_to_have_url(f"{demo.url}/login")
        yield page
        browser.close()


def config_map(name: str, **data: str) -> str:
    meta = {"name": name, "namespace": "payments"}
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data})


def propose(demo: Demo, user: str = "alice", **change: Any) -> str:
    """Return the address for the review."""
    text = Assistant(demo, demo.token(user)).call("propose_change", reason="<b>Why</b>", **change)
    return str(json.loads(text)["reviewUrl"])


@pytest.fixture
def patched(demo: Demo) -> str:
    return propose(demo, **PLACE, name="gateway-adapter", patch={"spec": {"replicas": 4}})


@pytest.fixture
def made(demo: Demo) -> str:
    return propose(demo, manifest=config_map("proposed", color="green"))


def test_a_patch_is_applied_after_the_review(demo: Demo, patched: str, page: Page) -> None:
    kubectl = demo.kubectl(demo.kubeconfig("alice"), "payments")
    replicas = ("get", "deployment/gateway-adapter", "-o", "jsonpath={.spec.replicas}")
    assert kubectl(*replicas) != "4"
    page.goto(patched)
    expect(page.get_by_text("<b>Why</b>")).to_be_visible()
    page.get_by_role("button", name="Review changes").click()
    expect(page.get_by_text("<b>Why</b>")).to_be_visible()
    expect(page.get_by_role("table").get_by_text("replicas: 4")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved deployment gateway-adapter.")).to_be_visible()
    assert kubectl(*replicas) == "4"


def test_a_manifest_is_applied_after_the_review(demo: Demo, made: str, page: Page) -> None:
    kubectl = demo.kubectl(demo.kubeconfig("alice"), "payments")
    assert kubectl.run("get", "configmap/proposed").returncode
    page.goto(made)
    expect(page.get_by_text("<b>Why</b>")).to_be_visible()
    page.get_by_role("button", name="Review", exact=True).click()
    expect(page.get_by_text("<b>Why</b>")).to_be_visible()
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", name="Import results")).to_be_visible()
    assert kubectl("get", "configmap/proposed", "-o", "jsonpath={.data.color}") == "green"
    page.goto(made)
    expect(page.get_by_text("This draft no longer exists.")).to_be_visible()


@pytest.fixture
def several(demo: Demo) -> list[str]:
    return [propose(demo, manifest=config_map(name)) for name in ("one", "two")]


def test_several_manifests_can_be_proposed_and_discarded(
    demo: Demo, several: list[str], page: Page
) -> None:
    page.goto(f"{demo.url}/account")
    expect(page.get_by_text("Create from YAML <b>Why</b>").first).to_be_visible()
    for url in several:
        page.goto(url)
        page.get_by_role("button", name="Discard the draft").click()
        expect(page).to_have_url(f"{demo.url}/clusters/host/import")
    page.goto(several[0])
    expect(page.get_by_text("This draft no longer exists.")).to_be_visible()


def test_a_draft_of_the_user_is_not_overwritten(demo: Demo) -> None:
    change = {**PLACE, "name": "payments-api"}
    propose(demo, **change, patch={"spec": {"replicas": 5}})
    again = Assistant(demo, demo.token("alice"))
    patch = {"spec": {"replicas": 6}}
    assert "draft" in again.refusal("propose_change", reason="x", **change, patch=patch)


def test_other_users_do_not_see_a_proposal(demo: Demo, made: str) -> None:
    path = made.removeprefix(demo.url)
    status, text = demo.visitor("admin").get(path)
    assert (status, "green" in text) == (404, False)


def test_a_read_only_token_cannot_propose(demo: Demo) -> None:
    reader = Assistant(demo, download(demo.visitor("alice"), "read"))
    assert json.loads(reader.call("list", kind="pods", namespace="payments"))["total"]
    for change in (
        {"manifest": config_map("x")},
        {**PLACE, "name": "gateway-adapter", "patch": {"spec": {"replicas": 9}}},
    ):
        assert "read-only" in reader.refusal("propose_change", reason="x", **change)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"manifest": "a: b", "patch": {"a": 1}},
        {"manifest": "{"},
        {"manifest": "just text"},
        {"manifest": "a: &a [*a]"},
        {"manifest": config_map("Not_Valid")},
        {"manifest": config_map("x").replace("ConfigMap", "NoSuchKind")},
        {"manifest": config_map("x").replace("payments", "kube-system")},
        {"patch": {"spec": {"replicas": 1}}},
        {**PLACE, "name": "no-such", "patch": {"spec": {"replicas": 1}}},
        {**PLACE, "name": "gateway-adapter", "patch": {"spec": {"replicas": "many"}}},
        {**PLACE, "name": "gateway-adapter", "patch": {"metadata": {"name": "other"}}},
        {**PLACE, "name": "gateway-adapter", "patch": {"metadata": None}},
        {**PLACE, "name": "gateway-adapter", "patch": {"kind": "Pod"}},
        {**PLACE, "name": "gateway-adapter", "patch": {"no": {"such": "field"}}},
        {**PLACE, "name": "gateway-adapter", "patch": [1]},
        {"kind": "nodes", "name": "worker-7", "patch": {"spec": {"unschedulable": True}}},
        {"kind": "events", "namespace": "payments", "name": "x", "patch": {"a": 1}},
    ],
)
def test_changes_that_cannot_be_applied_are_refused(demo: Demo, change: dict[str, Any]) -> None:
    alice = Assistant(demo, demo.token("alice"))
    text = alice.refusal("propose_change", reason="x", **change)
    assert text
    assert "internal error" not in text.lower()


def test_nothing_is_written_by_the_endpoint(demo: Demo) -> None:
    def writes() -> list[Any]:
        return [one for one in demo.records() if one["verb"] not in ("get", "login", "logout")]

    before = writes()
    propose(demo, manifest=config_map("never", a="b"))
    assert writes() == before
