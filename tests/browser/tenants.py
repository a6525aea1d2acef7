"""Users of a workspace, and their sign-in in a browser."""

import re

from playwright.sync_api import Page

from tests.browser.console import PASSWORD, Console

Manifest = dict[str, object]
IAM, TENANT, QUOTA = "iam.kubesphere.io", "tenant.kubesphere.io", "quota.kubesphere.io"


def person(name: str, password: str = PASSWORD) -> Manifest:
    """Return a User manifest. The user can sign in after `controllers` has hashed the password."""
    spec = {"email": f"{name}@example.com", "password": password}
    return {
        "apiVersion": f"{IAM}/v1alpha2",
        "kind": "User",
        "metadata": {"name": name},
        "spec": spec,
    }


def enter(page: Page, console: Console, name: str, path: str) -> None:
    page.goto(f"{console.url}/login?next={path}")
    page.fill("input[name=username]", name)
    page.fill("input[name=password]", PASSWORD)
    page.click("button[type=submit]:not([form])")
    page.wait_for_url(re.compile(re.escape(console.url + path)))
