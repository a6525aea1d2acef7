"""All tasks of a workspace administrator who has no permissions in the cluster."""

import json
import re

from playwright.sync_api import Page, expect

from tests.browser.chromium import Chromium
from tests.browser.console import Console, act, live
from tests.browser.tenants import IAM, QUOTA, TENANT, Manifest, enter, person
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import eventually


def world() -> list[Manifest]:
    template: Manifest = {
        "apiVersion": f"{TENANT}/v1alpha2",
        "kind": "WorkspaceTemplate",
        "metadata": {"name": "acme"},
        "spec": {"template": {"spec": {"manager": "ann"}}},
    }
    hard = {"pods": "4", "requests.cpu": "2"}
    quota: Manifest = {
        "apiVersion": f"{QUOTA}/v1alpha2",
        "kind": "ResourceQuota",
        "metadata": {"name": "acme"},
        "spec": {"selector": {"kubesphere.io/workspace": "acme"}, "quota": {"hard": hard}},
    }
    return [person("ann"), person("ben"), template, quota]


def another_member() -> Manifest:
    return {
        "apiVersion": f"{IAM}/v1alpha2",
        "kind": "WorkspaceRoleBinding",
        "metadata": {"name": "acme.cid", "labels": {"kubesphere.io/workspace": "acme"}},
        "roleRef": {"apiGroup": IAM, "kind": "WorkspaceRole", "name": "acme-viewer"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "cid"}],
    }


def pod(name: str) -> str:
    amount = {"requests": {"cpu": "10m"}, "limits": {"cpu": "10m"}}
    container = {"name": "main", "image": "example/image:1", "resources": amount}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "acme-shop"},
            "spec": {"containers": [container]},
        }
    )


def refused(console: Console, *arguments: str, stdin: str | None = None) -> str:
    """Return kubectl's error for a command of the user ann. Fail if the command succeeds."""
    try:
        console.kubectl("--as", "ann", *arguments, input=stdin)
    except AssertionError as error:
        return str(error)
    raise AssertionError(f"ann may {arguments}")


def test_a_workspace_administrator_can_do_all_tasks(
    console: Console, page: Page, browser: Chromium
) -> None:
    items = {"apiVersion": "v1", "kind": "List", "items": world()}
    console.kubectl("apply", "-f", "-", input=json.dumps(items))
    eventually(
        lambda: "Active" in console.kubectl("get", f"users.{IAM}", "ann", "-o", "yaml"), "ann"
    )
    eventually(
        lambda: console.kubectl("get", f"workspaceroles.{IAM}", "-o", "name").count("acme-") == 4,
        "Only members of this workspace",
    )
    enter(page, console, "ann", "/workspaces")
    page.get_by_role("link", name="acme", exact=True).click()
    expect(page.get_by_role("heading", name="acme")).to_be_visible()

    tabs = page.get_by_role("navigation", name="Main navigation")
    tabs.get_by_role("link", name="Members", exact=True).click()
    page.get_by_role("link", name="Invite member").click()
    page.get_by_label("User", exact=True).fill("ben")
    page.get_by_label("Role", exact=True).select_option("acme-viewer")
    page.get_by_role("button", name="Invite member").click()
    expect(page.locator('tr[data-key="ben"]')).to_contain_text("acme-viewer")

    tabs.get_by_role("link", name="Projects", exact=True).click()
    page.get_by_role("link", name="Create project").click()
    page.get_by_label("Name", exact=True).fill("acme-shop")
    page.get_by_label("Custom").check()
    page.get_by_text("Object counts").click()
    page.get_by_label("Pods", exact=True).fill("1")
    page.get_by_role("button", name="Create project").click()
    expect(page.get_by_role("link", name="acme-shop")).to_be_visible()

    eventually(lambda: _made(console, "web"), "the first pod")
    if isinstance(console.cluster, ControlPlane):
        assert "exceeded quota" in refused(console, "create", "-f", "-", stdin=pod("more"))
        assert "administrators of the cluster" in refused(
            console, "label", "ns", "acme-shop", "kubesphere.io/workspace=other", "--overwrite"
        )
    tabs.get_by_role("link", name="Quota", exact=True).click()
    expect(page.locator("main")).to_contain_text("1 of 4")
    page.goto(f"{console.url}/workspaces/acme/projects/acme-shop")
    expect(page.locator("main")).to_contain_text("Quota reached")
    for arguments in (("get", "ns"), ("create", "ns", "own"), ("get", "pods", "-n", "default")):
        assert "orbidden" in refused(console, *arguments)

    other = browser.new_context(locale="en-GB")
    watching = other.new_page()
    enter(watching, console, "ben", "/clusters/host/pods?namespace=acme-shop")
    row = watching.locator('tr[data-key="acme-shop/web"]')
    expect(row).to_be_visible()
    reading = other.new_page()
    asked: list[str] = []
    reading.goto(f"{console.url}/workspaces/acme/members")
    expect(reading.locator('tr[data-key="ben"]')).to_be_visible()
    live(reading)
    reading.on("request", lambda request: asked.append(request.url))
    console.kubectl("apply", "-f", "-", input=json.dumps(another_member()))
    expect(reading.locator('tr[data-key="cid"]')).to_be_visible()
    # The page is fetched when it has changed, not periodically.
    assert 0 < len(asked) <= 3, asked
    # The next change is reported too.
    console.kubectl("delete", f"workspacerolebindings.{IAM}", "acme.cid")
    expect(reading.locator('tr[data-key="cid"]')).to_have_count(0)
    page.goto(f"{console.url}/workspaces/acme/members/ben/remove")
    page.get_by_role("button", name="Remove member").click()
    expect(page.locator('tr[data-key="ben"]')).to_have_count(0)
    expect(row).to_have_count(0)
    expect(reading.locator('[data-state="denied"]')).to_be_visible()
    other.close()

    page.goto(f"{console.url}/workspaces/acme/projects/acme-shop")
    act(page, "delete")
    page.get_by_label("Type acme-shop to confirm").fill("acme-shop")
    page.get_by_role("button", name=re.compile("Delete project")).click()
    eventually(
        lambda: "acme-shop" not in console.kubectl("get", "ns", "-o", "name"),
        "it is gone",
        timeout=60,
    )


def _made(console: Console, name: str) -> bool:
    """Create a pod as ann. Return False until permissions and the default service account are
    available.
    """
    try:
        console.kubectl("--as", "ann", "create", "-f", "-", input=pod(name))
    except AssertionError:
        return False
    return True
