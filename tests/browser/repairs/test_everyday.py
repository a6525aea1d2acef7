"""Frequent tasks in a browser: editing the keys of a ConfigMap, the menu of a row, bulk actions,
and new objects.
"""

import json
import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.keyboard import step_to
from tests.browser.repairs.operator import Operator
from tests.browser.tasks.locators import row
from tests.controlplane.waiting import eventually

SHIPPING = "shipping"
TEXT = """\
apiVersion: v1
kind: Service
metadata:
  name: returns
spec:
  selector: {app: returns}
  ports: [{port: 80}]
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  tier: test
"""


def at_row(operator: Operator, key: str) -> Locator:
    """Return the row. With a keyboard, also move the focus to it."""
    if not operator.touches:
        step_to(operator.page, key)
    return row(operator.page, key)


def test_editing_keys_and_restarting_workloads_that_use_them(operator: Operator) -> None:
    page, target = operator.page, ("deployment/customs-forms", "-n", SHIPPING)
    source = [{"configMapRef": {"name": "settings"}}]
    patch = [{"op": "add", "path": "/spec/template/spec/containers/0/envFrom", "value": source}]
    operator.kubectl("patch", *target, "--type", "json", "-p", json.dumps(patch))
    # Restore the state from before another operator ran this test.
    before = json.dumps({"data": {"tier": "prod", "currency": None}})
    operator.kubectl("patch", "configmap/settings", "-n", SHIPPING, "--type", "merge", "-p", before)
    operator.open(SHIPPING, "configmaps", "settings")
    operator.act("keys")
    expect(page.locator("#users-title + *")).to_contain_text("customs-forms")
    operator.fill(page.get_by_label("tier"), "test\nand demo")
    operator.picture("keys")
    operator.press(page.locator("button[data-adds=new-key]"))
    added = page.locator("input[name=new-key-2]")
    expect(added).to_be_focused()
    page.keyboard.type("currency")
    value = page.locator("textarea[name=new-value-2]")
    assert [one.evaluate("(one) => one.labels.length") for one in (added, value)] == [1, 1]
    operator.fill(value, "EUR")
    operator.press(page.locator("form.confirm .buttons button[type=submit]"))
    offer = page.locator("form.confirm button[type=submit]")
    expect(offer).to_contain_text("customs-forms")
    operator.picture("keys-saved")
    found = operator.kubectl("get", "configmap/settings", "-n", SHIPPING, "-o", "jsonpath={.data}")
    kept = {"currency": "EUR", "region": "eu-central", "tier": "test\nand demo"}
    assert json.loads(found) == kept
    operator.press(offer)
    page.wait_for_url(re.compile("/bulk/"))
    operator.press(page.locator("form.confirm button[type=submit]"))
    expect(page.locator(".summary")).to_be_visible()
    annotations = ("-o", "jsonpath={.spec.template.metadata.annotations}")
    assert "restartedAt" in operator.kubectl("get", *target, *annotations)


def test_deleting_from_the_menu_of_a_row(operator: Operator) -> None:
    page, key = operator.page, f"{SHIPPING}/left-over"
    operator.kubectl("create", "configmap", "left-over", "-n", SHIPPING)
    operator.go(f"configmaps?namespace={SHIPPING}")
    one = at_row(operator, key)
    menu = one.locator(".menu")
    if operator.touches:
        one.locator(".actions [popovertarget]").click()
    else:
        page.keyboard.press(".")
        expect(menu.locator("a, button").first).to_be_focused()
        page.keyboard.press("Escape")
        # The browser returns to the page where the menu was opened.
        expect(menu).to_be_hidden()
        expect(one).to_be_focused()
        page.keyboard.press(".")
    expect(menu).to_be_visible()
    operator.picture("menu")
    operator.press(menu.locator("a[href$='/actions/delete']"))
    page.wait_for_url(re.compile("/actions/delete"))
    operator.press(page.locator("form.confirm button[type=submit]"))
    page.wait_for_url(re.compile(r"/configmaps\?"))
    left = ("get", "configmaps", "-n", SHIPPING, "-o", "name")
    eventually(lambda: "left-over" not in operator.kubectl(*left), "it is gone")


def test_the_kubectl_command_follows_the_input(operator: Operator) -> None:
    page = operator.page
    operator.open(SHIPPING, "deployments", "tracking")
    operator.act("scale")
    line = page.locator("#command-line code")
    replicas = page.locator("input[name=replicas]")
    before = line.inner_text()
    assert f"--replicas={replicas.input_value()}" in before
    operator.fill(replicas, "7")
    expect(line).to_have_text(re.sub("--replicas=[0-9]+", "--replicas=7", before))
    operator.fill(replicas, "99999999999")
    # No command is shown for invalid input.
    expect(line).to_have_count(0)
    operator.fill(replicas, "4")
    expect(line).to_contain_text("--replicas=4")
    assert page.locator("form.confirm .problem-line").count() == 0
    operator.picture("scale-line")


# The CI run covers confirmations of bulk actions in tests/browser/pages/test_choosing.py, and
# restarts above.
@pytest.mark.deep
def test_restarting_several_workloads(operator: Operator) -> None:
    page, names = operator.page, ("address-import", "tracking")
    operator.go(f"deployments?namespace={SHIPPING}&sort=name")
    for name in names:
        _choose(operator, name)
    bar = page.locator("#bulk")
    expect(bar).to_be_visible()
    if not operator.touches:
        page.keyboard.press("b")
    operator.picture("bulk")
    operator.press(bar.locator("button[formaction*='/restart']"))
    expect(page.locator("form.confirm .names li")).to_have_count(2)
    operator.press(page.locator("form.confirm button[type=submit]"))
    expect(page.locator(".summary")).to_be_visible()
    operator.picture("bulk-done")
    for name in names:
        about = ("-n", SHIPPING, "-o", "jsonpath={.spec.template.metadata.annotations}")
        assert "restartedAt" in operator.kubectl("get", f"deployment/{name}", *about)


def _choose(operator: Operator, name: str) -> None:
    key = f"{SHIPPING}/{name}"
    if operator.touches:
        row(operator.page, key).locator(".tick input").check()
        return
    step_to(operator.page, key)
    operator.page.keyboard.press("x")
    expect(row(operator.page, key).locator(".tick input")).to_be_checked()


def test_the_focus_is_kept_when_a_button_disappears(operator: Operator, at_a_desk: None) -> None:
    """Keyboard users keep their position when a focused button disappears."""
    page, name = operator.page, "tracking"
    operator.go(f"deployments?namespace={SHIPPING}&sort=name")
    _choose(operator, name)
    page.keyboard.press("b")
    expect(page.locator("#bulk-all")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#bulk button[form]").first).to_be_focused()
    operator.press(page.locator("#bulk-none"))
    expect(page.locator("#bulk")).to_be_hidden()
    expect(row(page, f"{SHIPPING}/{name}")).to_be_focused()


def test_creating_objects_and_undoing_it(operator: Operator) -> None:
    page = operator.page
    operator.go(f"new?namespace={SHIPPING}")
    operator.press(page.locator("main a.button[href*='/import']"))
    page.wait_for_url(re.compile("/import"))
    _write(operator, TEXT)
    _step(operator, "review")
    expect(page.locator(".results > li[data-outcome=done]")).to_have_count(2)
    expect(page.locator(".results .diff ins")).to_have_text("  tier: test")
    operator.picture("create-review")
    _step(operator, "create")
    expect(page.locator(".results > li[data-outcome=done]")).to_have_count(2)
    operator.picture("create-done")
    found = ("get", "service/returns", "-n", SHIPPING, "-o", "name")
    assert operator.kubectl(*found)
    _step(operator, "review-undo")
    expect(page.locator("button[name=step][value=undo]")).to_be_visible()
    _step(operator, "undo")
    expect(page.locator(".results > li[data-outcome=done]")).to_have_count(1)
    assert "returns" not in operator.kubectl("get", "services", "-n", SHIPPING, "-o", "name")


def _write(operator: Operator, text: str) -> None:
    """Replace the whole text of the editor."""
    operator.enter()
    operator.page.keyboard.press("Control+a")
    operator.page.keyboard.insert_text(text)


def _step(operator: Operator, step: str) -> None:
    operator.press(operator.page.locator(f"button[name=step][value={step}]"))
