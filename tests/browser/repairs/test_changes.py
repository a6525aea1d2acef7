"""Changes in special situations: a new custom type, a conflicting user, no pointer, and no scripts
on a phone.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import Chromium
from tests.browser.console import offered
from tests.browser.keyboard import jump, tab_to
from tests.browser.repairs.operator import Operator
from tests.browser.tasks.conftest import PHONE, Look, somebody
from tests.browser.tasks.sample_objects import WEB, Scene
from tests.controlplane.waiting import eventually


# The CI run covers completion from a schema in tests/browser/pages/test_editor.py.
@pytest.mark.deep
def test_the_editor_completes_fields_of_a_new_custom_type(operator: Operator) -> None:
    page = operator.page
    with Scene(operator.person.console, "", "").new_type() as name:
        operator.open(WEB, name, "anchor")
        operator.act("edit")
        operator.find("depth: 12")
        page.keyboard.type("de")
        offered = page.locator(".cm-tooltip-autocomplete .cm-completionLabel")
        expect(offered).to_have_text(["depth"])
        operator.picture("custom-resource-completion")
        offered.click()
        page.keyboard.type("14")
        operator.review()
        expect(page.locator(".diff ins")).to_have_text([" depth: 14"])
        operator.save()
        depth = ("-n", WEB, "-o", "jsonpath={.spec.depth}")
        assert operator.kubectl("get", name, "anchor", *depth) == "14"


def test_conflicting_edits_require_a_decision(operator: Operator) -> None:
    page, target = operator.page, ("deployment/search-api", "-n", WEB)
    operator.open(WEB, "deployments", "search-api")
    operator.act("edit")
    other = Operator(replace(operator.person, page=page.context.new_page()))
    other.go(f"projects/{WEB}/deployments/search-api/actions/scale")
    other.fill(other.page.locator("input[name=replicas]"), "4")
    other.confirm()
    other.page.close()
    operator.kubectl("annotate", *target, "shop.example/owner=search")
    operator.replace("replicas: 3", by="replicas: 2")
    operator.press(page.locator("button[name=step][value=review]"))
    conflict = page.locator("fieldset.conflict")
    expect(conflict).to_contain_text("replicas")
    operator.picture("two-people")
    operator.tick(conflict.locator("input[value=mine]"))
    operator.review()
    expect(page.locator(".diff ins")).to_have_text([" replicas: 2"])
    operator.save()
    found = operator.kubectl(
        "get", *target, "-o", "jsonpath={.spec.replicas} {.metadata.annotations}"
    )
    assert found.startswith("2 ") and '"shop.example/owner":"search"' in found


# The CI run covers both by keyboard in the test that raises a full quota.
@pytest.mark.deep
def test_scaling_and_editing_by_keyboard(operator: Operator, at_a_desk: None) -> None:
    page = operator.page
    page.goto(operator.person.console.url + "/dashboard")
    jump(
        page, "deploy rates-api", page.locator('#palette-options a[href$="/deployments/rates-api"]')
    )
    page.wait_for_url(re.compile("/rates-api$"))
    tab_to(page, offered(page, "a[href$='/actions/scale']"))
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/scale$"))
    tab_to(page, page.locator("form.confirm input[name=replicas]"))
    page.keyboard.press("Control+a")
    page.keyboard.type("4")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/rates-api$"))
    tab_to(page, offered(page, "a[href$='/edit']"))
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/edit$"))
    operator.find("replicas: 4")
    page.keyboard.type("replicas: 5")
    # The first Escape closes suggestions, the second one lets Tab leave the editor.
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    tab_to(page, page.locator("button[value=review]"))
    page.keyboard.press("Enter")
    expect(page.locator(".diff ins")).to_have_text([" replicas: 5"])
    tab_to(page, page.locator("button[value=save]"))
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/rates-api$"))
    wanted = ("get", "deployment/rates-api", "-n", "shipping", "-o", "jsonpath={.spec.replicas}")
    assert operator.kubectl(*wanted) == "5"


@pytest.fixture
def plain(operator: Operator, browser: Chromium, at_a_desk: None) -> Iterator[Operator]:
    """Open the same console on a phone without scripts, independent of the operator's look. Testing
    this once is enough.
    """
    look = Look("light", "en", PHONE)
    with somebody(browser, operator.person.console, look, scripts=False) as person:
        yield Operator(person)


# In the CI run, these forms are submitted without scripts by tests/browser/pages, and found by
# tests/browser/tasks/test_without_scripts.py.
@pytest.mark.deep
def test_scaling_editing_and_deleting_on_a_phone_without_scripts(plain: Operator) -> None:
    page: Page = plain.page
    url = f"{plain.person.console.url}/clusters/host/projects/shipping/deployments/label-printer"
    wanted = ("deployment/label-printer", "-n", "shipping", "-o", "jsonpath={.spec.replicas}")
    page.goto(url)
    plain.act("scale")
    page.locator("form.confirm input[name=replicas]").fill("3")
    plain.picture("scale-without-scripts")
    plain.confirm()
    assert plain.kubectl("get", *wanted) == "3"
    plain.act("edit")
    area = page.locator("textarea[name=text]")
    area.fill(area.input_value().replace("replicas: 3", "replicas: 1"))
    plain.review()
    plain.picture("edit-without-scripts")
    plain.save()
    assert plain.kubectl("get", *wanted) == "1"
    plain.act("delete")
    plain.picture("delete-without-scripts")
    page.locator("form.confirm button[type=submit]:not([value=edit])").click()
    page.wait_for_url(re.compile(r"/deployments(\?|$)"))
    left = ("get", "deployments", "-n", "shipping", "-o", "name")
    eventually(lambda: "label-printer" not in plain.kubectl(*left), "it is gone")
