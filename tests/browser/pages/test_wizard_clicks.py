"""The clicks and fields to a running Deployment with two containers, a Service and a route, compared
with KubeSphere's wizards (docs/wizards.md).
"""

from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.browser.console import ROOT, Console, sign_in
from tests.browser.wizard_forms import field

#: KubeSphere 3.4: clicks from the list of Services to the created route, and fields that are not
#: filled in. docs/wizards.md lists them.
KUBESPHERE_CLICKS, KUBESPHERE_FIELDS = 18, 10


@dataclass
class Counted:
    """A user whose clicks and fields are counted."""

    page: Page
    clicks: int = 0
    fields: int = 0

    def click(self, where: Locator) -> None:
        where.click()
        self.clicks += 1

    def fill(self, name: str, text: str) -> None:
        self.page.fill(field(self.page, name), text)
        self.fields += 1


def test_two_containers_with_a_service_and_a_route_need_fewer_clicks_than_in_kubesphere(
    console: Console, page: Page
) -> None:
    sign_in(page, console, "/clusters/host/deployments?namespace=default")
    user = Counted(page)
    user.click(page.locator("main a[href*='/new/deployments']").first)
    user.click(page.get_by_role("button", name="Quick start"))
    user.fill("image", "example/web:1")
    user.fill("port", "8080")
    user.fill("ingress.host", "two.example.com")
    user.click(page.get_by_role("button", name="Step by step"))
    user.click(page.locator('.steps [value="go.containers"]'))
    user.click(page.get_by_role("button", name="Add container", exact=True))
    user.fill("containers.1.image", "example/log:2")
    user.fill("containers.1.name", "log")
    user.click(page.get_by_role("button", name="Skip to review"))
    user.click(page.get_by_role("button", name="Create 3 objects"))
    page.wait_for_url("**/created")
    expect(page.locator(".results li")).to_have_count(3)
    assert (user.clicks, user.fields) == (7, 5)
    assert user.clicks < KUBESPHERE_CLICKS and user.fields < KUBESPHERE_FIELDS
    told = (ROOT / "docs" / "wizards.md").read_text()
    assert f"| Quarterdeck | {user.clicks} | {user.fields} |" in told
    assert f"| KubeSphere 3.4 | {KUBESPHERE_CLICKS} | {KUBESPHERE_FIELDS} |" in told
