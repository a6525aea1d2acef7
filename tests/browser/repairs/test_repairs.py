"""Fixing the broken workloads of the sample data in a browser, from the problem to the healthy
state.
"""

import pytest
from playwright.sync_api import expect

from tests.browser.repairs.operator import Operator


def test_a_higher_memory_limit_fixes_a_crash_loop(operator: Operator) -> None:
    page = operator.page
    operator.open("payments", "deployments", "fraud-scorer")
    expect(operator.state).not_to_have_attribute("data-severity", "ok")
    operator.act("edit")
    operator.replace("limits:", "memory: 512Mi", by="memory: 1Gi")
    operator.review()
    expect(page.locator(".diff ins")).to_have_text([" memory: 1Gi"])
    operator.picture("repair-crash-loop")
    operator.save()
    operator.runs()


def test_a_corrected_image_fixes_a_pull_failure(operator: Operator) -> None:
    page = operator.page
    operator.open("web", "deployments", "image-resizer")
    expect(page.locator("#panel-rollout")).to_contain_text("0.9.8-rc")
    operator.act("set-image")
    image = page.locator("form#draft input[name='containers.0.image']")
    operator.fill(image, image.input_value().replace("0.9.8-rc", "0.9.8"))
    operator.picture("repair-image")
    operator.next()
    operator.save()
    operator.runs()


def test_a_rollback_fixes_a_stuck_rollout(operator: Operator) -> None:
    operator.open("data", "deployments", "feature-store")
    expect(operator.state).not_to_have_attribute("data-severity", "ok")
    operator.act("rollback")
    operator.picture("repair-rollback")
    operator.confirm()
    operator.runs()


# For the editor this is the same as changing a memory limit.
@pytest.mark.deep
def test_a_lower_memory_request_fixes_an_unschedulable_pod(operator: Operator) -> None:
    page = operator.page
    operator.open("data", "deployments", "recommender")
    expect(page.locator("#panel-rollout")).to_contain_text("memory")
    operator.act("edit")
    operator.replace("requests:", "memory: 64Gi", by="memory: 2Gi")
    operator.review()
    expect(page.locator(".diff ins")).to_have_text([" memory: 2Gi"])
    operator.picture("repair-request")
    operator.save()
    operator.runs()


def test_a_higher_quota_fixes_an_exceeded_quota(operator: Operator) -> None:
    page = operator.page
    operator.open("checkout", "deployments", "pricing")
    operator.act("scale")
    operator.fill(page.locator("form.confirm input[name=replicas]"), "4")
    operator.confirm()
    expect(page.locator("#panel-cause")).to_contain_text("exceeded quota")
    operator.open("checkout", "resourcequotas", "team")
    operator.act("edit")
    operator.replace('pods: "18"', by='pods: "40"')
    operator.review()
    expect(page.locator(".diff ins")).to_have_text([' pods: "40"'])
    operator.picture("repair-quota")
    operator.save()
    operator.open("checkout", "deployments", "pricing")
    operator.runs()


def test_scaling_an_autoscaled_deployment_shows_a_warning(operator: Operator) -> None:
    page = operator.page
    operator.open("web", "deployments", "storefront")
    operator.act("scale")
    expect(page.locator("form.confirm .notice")).to_contain_text("storefront")
    operator.picture("scale-autoscaled")
