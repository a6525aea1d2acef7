"""Templates of a workspace and composed applications in a browser, by form alone."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import Console, sign_in
from tests.browser.wizard_forms import field
from tests.controlplane.waiting import eventually

WORKSPACE, PROJECT = "studio", "studio-web"


@pytest.fixture
def _project(console: Console) -> None:
    """Create a workspace with a project."""
    for item in (
        {
            "apiVersion": "tenant.kubesphere.io/v1alpha2",
            "kind": "WorkspaceTemplate",
            "metadata": {"name": WORKSPACE},
            "spec": {"template": {"spec": {"manager": "admin"}}},
        },
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": PROJECT, "labels": {"kubesphere.io/workspace": WORKSPACE}},
        },
    ):
        console.kubectl("apply", "-f", "-", input=json.dumps(item))
    eventually(
        lambda: (
            WORKSPACE in console.kubectl("get", "workspaces.tenant.kubesphere.io", "-o", "name")
        ),
        "the workspace exists",
    )


def found(console: Console, what: str, namespace: str) -> dict[str, object]:
    text = console.kubectl("get", what, "-n", namespace, "-o", "json")
    manifest: dict[str, object] = json.loads(text)
    return manifest


@pytest.mark.usefixtures("_project")
def test_a_template_is_saved_from_a_form_and_started_from(console: Console, page: Page) -> None:
    sign_in(page, console, "")
    page.goto(f"{console.url}/clusters/host/new/deployments?namespace={PROJECT}")
    page.fill(field(page, "name"), "first")
    page.keyboard.press("Enter")
    page.wait_for_url("**/containers")
    page.fill(field(page, "containers.0.image"), "example/web:7")
    page.get_by_role("button", name="Save as template").click()
    page.wait_for_url(f"**/workspaces/{WORKSPACE}/templates/**")
    page.fill(field(page, "name"), "Web server")
    page.get_by_role("button", name="Save").last.click()
    page.wait_for_url(f"**/workspaces/{WORKSPACE}/templates")
    expect(page.get_by_role("row", name="Web server")).to_be_visible()

    page.goto(f"{console.url}/clusters/host/new?namespace={PROJECT}")
    page.get_by_role("link", name="Web server").click()
    expect(page.locator(field(page, "name"))).to_have_value("first")
    page.fill(field(page, "name"), "second")
    page.get_by_role("button", name="Skip to review").click()
    page.get_by_role("button", name="Create 1 object").click()
    page.wait_for_url("**/created")
    made = found(console, "deployment/second", PROJECT)
    assert '"image": "example/web:7"' in json.dumps(made) and '"app": "second"' in json.dumps(made)

    page.goto(f"{console.url}/workspaces/{WORKSPACE}/templates")
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete").last.click()
    expect(page.get_by_role("heading", name="No templates yet")).to_be_visible()


def test_an_application_of_two_services_and_a_route_is_created_by_form(
    console: Console, page: Page
) -> None:
    sign_in(page, console, "")
    page.goto(f"{console.url}/clusters/host/new/applications.app.k8s.io?namespace=default")
    page.fill(field(page, "name"), "bookshop")
    page.keyboard.press("Enter")
    page.wait_for_url("**/services")
    page.fill(field(page, "components.0.name"), "books-web")
    page.fill(field(page, "components.0.containers.0.image"), "example/web:1")
    page.locator('[value="act.components.add"]').click()
    page.fill(field(page, "components.1.name"), "books-db")
    page.locator(f'{field(page, "components.1.kind")}[value="StatefulSet"]').check()
    page.fill(field(page, "components.1.containers.0.image"), "example/db:1")
    page.locator(".foot .primary").click()
    page.wait_for_url("**/routes")
    page.locator('[value="act.routes.add"]').click()
    page.fill(field(page, "routes.0.name"), "bookshop")
    page.fill(field(page, "routes.0.rules.0.host"), "books.example.com")
    page.fill(field(page, "routes.0.rules.0.paths.0.service"), "books-web")
    page.locator(".foot .primary").click()
    page.wait_for_url("**/review")
    page.get_by_role("button", name="Create ").click()
    page.wait_for_url("**/created")
    for what in ("service/books-web", "service/books-db", "ingress/bookshop"):
        assert found(console, what, "default")
    workloads = console.kubectl(
        "get", "deploy,sts", "-o", "name", "-l", "app.kubernetes.io/name=bookshop"
    )
    assert sorted(workloads.split()) == [
        "deployment.apps/books-web-v1",
        "statefulset.apps/books-db-v1",
    ]
    page.get_by_role("link", name="books-db-v1").first.click()
    page.wait_for_url("**/statefulsets/books-db-v1*")
