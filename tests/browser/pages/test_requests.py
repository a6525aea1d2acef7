"""Open pages cause no additional requests to the cluster."""

from collections import Counter
from itertools import product

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.console import Console, live, sign_in
from tests.controlplane.waiting import eventually
from tests.support.depth import fewer

READER = "system:serviceaccount:quarterdeck-system:quarterdeck-reader"


# Two pages are enough to detect one request per page.
@pytest.mark.parametrize("pages", fewer([2, 5], 2))
def test_list_and_watch_requests_do_not_depend_on_the_number_of_pages(
    console: Console, context: BrowserContext, pages: int
) -> None:
    def asked() -> Counter[tuple[str, str, str]]:
        # Metrics of pods and nodes use the same resource names in another API group.
        return Counter(console.cluster.requests(READER))

    before = asked()
    opened = [context.new_page() for _ in range(pages)]
    sign_in(opened[0], console)
    for page in opened:
        page.goto(console.url + "/clusters/host/pods")
        live(page)
    console.pod("counted")
    for page in opened:
        expect(page.locator('tr[data-key="default/counted"]')).to_be_visible()
    console.kubectl("delete", "pod", "counted", "--grace-period=0", "--force")
    for page in opened:
        expect(page.locator('tr[data-key="default/counted"]')).to_have_count(0)
    eventually(lambda: asked()["watch", "", "pods"], "the watch is in the log")
    # One request, or none if another page already watches the type. Controllers don't watch these
    # types.
    more = asked() - before
    for what in product(("list", "watch"), [""], ("pods", "nodes")):
        assert more[what] <= 1, what
