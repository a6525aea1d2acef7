"""What open pages cost the cluster: nothing."""

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import Console, sign_in
from tests.controlplane.waiting import eventually

READER = "system:serviceaccount:quarterdeck-system:quarterdeck-reader"


@pytest.mark.parametrize("number", [5])
def it_lists_once_and_watches_once_whatever_the_number_of_pages(
    console: Console, context: BrowserContext, number: int
) -> None:
    pages = [context.new_page() for _ in range(number)]
    sign_in(pages[0], console)
    for page in pages:
        page.goto(console.url + "/clusters/host/pods")
        expect(page.locator("body")).to_have_attribute("data-live", "live")
    console.pod("counted")
    for page in pages:
        expect(page.locator('tr[data-key="default/counted"]')).to_be_visible()
    console.kubectl("delete", "pod", "counted", "--grace-period=0", "--force")
    for page in pages:
        expect(page.locator('tr[data-key="default/counted"]')).to_have_count(0)

    def asked(verb: str, resource: str) -> int:
        # What metrics-server measures of pods and nodes is called the same, in a group of its own.
        return console.cluster.requests(READER).count((verb, "", resource))

    eventually(lambda: asked("watch", "pods"), "the watch is in the log")
    # Controllers follow nothing of these, so this is the pages' process alone.
    for resource in ("pods", "nodes"):
        assert (asked("list", resource), asked("watch", resource)) == (1, 1), resource
