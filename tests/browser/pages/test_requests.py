"""What open pages cost the cluster: nothing."""

from collections import Counter
from itertools import product

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.console import Console, live, sign_in
from tests.controlplane.waiting import eventually
from tests.depth import fewer

READER = "system:serviceaccount:quarterdeck-system:quarterdeck-reader"


# Were it once for each page, two would show it.
@pytest.mark.parametrize("pages", fewer([2, 5], 2))
def it_lists_once_and_watches_once_whatever_the_number_of_pages(
    console: Console, context: BrowserContext, pages: int
) -> None:
    def asked() -> Counter[tuple[str, str, str]]:
        # What metrics-server measures of pods and nodes is called the same, in a group of its own.
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
    # Once, or not at all where they are followed already. Controllers follow nothing of these.
    more = asked() - before
    for what in product(("list", "watch"), [""], ("pods", "nodes")):
        assert more[what] <= 1, what
