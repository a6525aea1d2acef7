"""Draining a node in a browser."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.repairs.operator import Operator

NAMESPACE, APP = "shipping", "rates-api"
PODS = ("pods", "-n", NAMESPACE, "-l", f"app.kubernetes.io/name={APP}")


@pytest.fixture
def kept(operator: Operator) -> Iterator[tuple[str, int]]:
    """Create a disruption budget that blocks all evictions of the app. Yield a node with pods of
    the app and the number of its pods in the cluster.
    """
    nodes = operator.kubectl("get", *PODS, "-o", "jsonpath={.items[*].spec.nodeName}").split()
    budget = ("poddisruptionbudget", APP, "-n", NAMESPACE)
    selector = f"--selector=app.kubernetes.io/name={APP}"
    operator.kubectl("create", *budget, selector, f"--min-available={len(nodes)}")
    yield nodes[0], len(nodes)
    # This also stops a drain that a failed test has left behind.
    operator.kubectl("uncordon", nodes[0])
    operator.kubectl("delete", *budget)
    operator.kubectl("rollout", "status", f"deployment/{APP}", "-n", NAMESPACE, "--timeout=60s")


def test_a_node_is_drained_after_a_budget_stops_blocking(
    operator: Operator, kept: tuple[str, int]
) -> None:
    page, (node, count) = operator.page, kept
    _open(operator, node)
    operator.act("drain")
    expect(page.locator("#blocking-title + p + ul")).to_contain_text(APP)
    operator.picture("drain-asked")
    for box in page.locator("form.confirm input[type=checkbox]").all():
        operator.tick(box)
    other = Operator(replace(operator.person, page=page.context.new_page()))
    _open(other, node)
    operator.confirm()
    expect(_blocked(operator)).to_contain_text(f"{APP} needs {count} healthy pods", timeout=60_000)
    operator.picture("drain-blocked")
    # A page that was opened before the drain shows it too.
    expect(_blocked(other)).to_contain_text(APP, timeout=30_000)
    # Not while the page is paused.
    other.page.locator("#freshness > button").click()
    fewer = json.dumps({"spec": {"minAvailable": count - 1}})
    operator.kubectl("patch", "poddisruptionbudget", APP, "-n", NAMESPACE, "-p", fewer)
    # The page is not reloaded.
    expect(page.locator("#drain .mark[data-severity=ok]")).to_be_visible(timeout=90_000)
    operator.picture("drain-done")
    expect(other.page.locator("#drain .mark[data-severity=progress]")).to_be_visible()
    other.page.locator("#freshness > button").click()
    expect(other.page.locator("#drain .mark[data-severity=ok]")).to_be_visible()
    other.page.close()
    left = ("--field-selector", f"spec.nodeName={node}", "-o", "name")
    assert operator.kubectl("get", *PODS, *left) == ""
    operator.press(page.locator("#drain a[href$='/actions/uncordon']"))
    operator.confirm()
    expect(page.locator("#drain")).to_be_hidden()


def _open(operator: Operator, node: str) -> None:
    operator.go(f"nodes/{node}")


def _blocked(operator: Operator) -> Locator:
    return operator.page.locator("#drain li").filter(has_text=APP).first
