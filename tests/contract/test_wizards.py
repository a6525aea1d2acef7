"""Wizards that create and edit objects on a cluster."""

import re

import pytest
import yaml

from tests.contract.console import _runtime, runtime
from tests.contract.import_pages import Desk, desk
from tests.contract.objects import unique
from tests.contract.wizard_pages import GROUP, WizardVisitor, begin
from tests.support.wizard_forms import fields_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_runtime", "_site", "desk", "runtime"]

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_deployment_with_a_service_is_created(desk: Desk) -> None:
    name = unique("wizard")
    visitor = await begin(desk, name)
    await visitor.press("go.network")
    await visitor.press("act.service.show", service="on")
    assert visitor.fields["service.ports.0.port"] == "8080"
    await visitor.press("go.review")
    assert "Can be created" in visitor.html, visitor.html
    await visitor.press("create")
    assert visitor.url.endswith("/created"), visitor.html
    assert "Objects created" in visitor.html and name in visitor.html
    made = desk.admin.get(desk.path("deployments", name, GROUP)).ok()
    container = made["spec"]["template"]["spec"]["containers"][0]
    assert (container["image"], container["name"]) == ("example/web:1", "web")
    assert container["ports"][0]["containerPort"] == 8080
    assert container["resources"] == {"limits": {"memory": "128Mi"}}
    assert made["spec"]["replicas"] == 2
    assert made["spec"]["selector"] == {"matchLabels": {"app": name}}
    service = desk.admin.get(desk.path("services", name)).ok()
    assert service["spec"]["selector"] == {"app": name}
    assert service["spec"]["ports"][0]["targetPort"] == "http"


@pytest.mark.newer_kubernetes
async def test_yaml_and_form_show_the_same_draft(desk: Desk) -> None:
    name = unique("wizard")
    visitor = await begin(desk, name)
    await visitor.press("go.yaml")
    text = yaml_of(visitor)
    [manifest] = yaml.safe_load_all(text)
    manifest["spec"]["template"]["spec"]["hostUsers"] = False
    manifest["spec"]["template"]["spec"]["containers"][0]["image"] = "example/web:2"
    await visitor.press("back", manifest=yaml.safe_dump(manifest))
    assert "spec.template.spec.hostUsers" in visitor.html
    await visitor.press("go.containers")
    assert visitor.fields["containers.0.image"] == "example/web:2"
    await visitor.press("go.review")
    await visitor.press("create")
    made = desk.admin.get(desk.path("deployments", name, GROUP)).ok()
    assert made["spec"]["template"]["spec"]["hostUsers"] is False


async def test_an_invalid_yaml_text_is_kept_with_its_problem(desk: Desk) -> None:
    visitor = await begin(desk, unique("wizard"))
    await visitor.press("go.yaml")
    await visitor.press("back", manifest="a: [1,\nb")
    assert visitor.status == 400 and "Could not parse the YAML" in visitor.html
    assert "a: [1,\nb" in visitor.html
    await visitor.open(visitor.url)
    assert "a: [1,\nb" in visitor.html


async def test_errors_are_shown_at_their_fields_and_input_is_kept(desk: Desk) -> None:
    visitor = WizardVisitor(desk.who)
    await visitor.open(f"/clusters/host/new/deployments?namespace={desk.namespace}")
    await visitor.press("next", name="Not Valid", replicas="many")
    assert "/basics" in visitor.url
    assert visitor.fields["name"] == "Not Valid" and visitor.fields["replicas"] == "many"
    assert "Use a whole number from" in visitor.html
    assert visitor.html.count('aria-invalid="true"') == 2
    await visitor.press("next", name="valid", replicas="1")
    assert "/containers" in visitor.url


async def test_the_quick_start_creates_three_objects_from_three_fields(desk: Desk) -> None:
    name, visitor = unique("quick"), WizardVisitor(desk.who)
    await visitor.open(f"/clusters/host/new/deployments?namespace={desk.namespace}&step=quick")
    assert 'aria-label="Steps"' not in visitor.html
    await visitor.press("next", port="8080")
    assert "Enter an image." in visitor.html and "/quick" in visitor.url
    host = f"{name}.example.com"
    await visitor.press("next", image="example/web:1", ingress__host=host)
    assert "/review" in visitor.url and "Can be created" in visitor.html, visitor.html
    await visitor.press("create")
    assert visitor.status == 200, visitor.html
    made = desk.admin.get(desk.path("deployments", name, GROUP)).ok()
    assert made["spec"]["template"]["spec"]["containers"][0]["image"] == "example/web:1"
    assert desk.admin.get(desk.path("services", name)).ok()["spec"]["ports"][0]["port"] == 80
    ingress = desk.admin.get(desk.path("ingresses", name, "networking.k8s.io/v1")).ok()
    assert ingress["spec"]["rules"][0]["host"] == host
    response = await ClientAs()(desk.who).get("/clusters/host/new/deployments?step=none")
    assert response.status_code == 404


async def test_a_cron_job_is_created_with_its_schedule(desk: Desk) -> None:
    name, visitor = unique("wizard"), WizardVisitor(desk.who)
    await visitor.open(f"/clusters/host/new/cronjobs?namespace={desk.namespace}")
    await visitor.press("next", name=name)
    await visitor.press("next", schedule="30 2 * * *", timeZone="Europe/Berlin")
    await visitor.press("next", containers__0__image="example/job:1")
    await visitor.press("go.settings")
    await visitor.press("act.restricted.fill")
    await visitor.press("go.review")
    await visitor.press("create")
    assert visitor.status == 200 and "Objects created" in visitor.html, visitor.html
    spec = desk.admin.get(desk.path("cronjobs", name, "batch/v1")).ok()["spec"]
    assert (spec["timeZone"], spec["concurrencyPolicy"]) == ("Europe/Berlin", "Forbid")
    pod = spec["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["containers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"]}


async def test_what_the_cluster_refuses_is_reported_in_the_review(desk: Desk) -> None:
    name = unique("wizard")
    visitor = await begin(desk, name)
    await visitor.press("go.yaml")
    [manifest] = yaml.safe_load_all(yaml_of(visitor))
    manifest["spec"]["selector"]["matchLabels"] = {"app": "other"}
    await visitor.press("go.review", manifest=yaml.safe_dump(manifest))
    assert "Cannot be created" in visitor.html
    assert 'value="create"' not in visitor.html


async def test_a_field_that_the_cluster_refuses_is_named_in_the_review(desk: Desk) -> None:
    visitor = await begin(desk, unique("wizard"))
    await visitor.press("go.containers")
    await visitor.press("go.review", containers__0__env__0__name="", containers__0__image=" ")
    await visitor.press("go.settings")
    await visitor.press("go.review", priorityClassName="Not Valid")
    assert re.search(r'value="go.settings"[^>]*>[^<]*Priority class', visitor.html), visitor.html


async def test_a_name_that_was_taken_after_the_review_is_reported(desk: Desk) -> None:
    name = unique("wizard")
    visitor = await begin(desk, name)
    await visitor.press("go.review")
    other = await begin(desk, name)
    await other.press("go.review")
    await other.press("create")
    await visitor.press("create")
    assert visitor.status == 409, visitor.html
    await visitor.press("go.basics")
    assert visitor.fields["name"] == name


async def test_an_object_is_edited_with_the_same_steps(desk: Desk) -> None:
    name = unique("wizard")
    visitor = await begin(desk, name)
    await visitor.press("go.review")
    await visitor.press("create")
    url = f"/clusters/host/projects/{desk.namespace}/deployments/{name}/edit/form"
    await visitor.open(f"{url}/containers")
    assert visitor.fields["containers.0.image"] == "example/web:1"
    await visitor.press("go.review", containers__0__image="example/web:3")
    assert visitor.status == 200 and "example/web:3" in visitor.html, visitor.html
    found = re.search(r'name="seen" value="([^"]+)"', visitor.html)
    assert found is not None
    assert "example/web:1" in visitor.html


async def test_a_draft_is_not_visible_to_other_users(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = await begin(desk, unique("wizard"))
    url, other = visitor.url, WizardVisitor("admin")
    await other.open(url)
    assert "example/web:1" not in other.html


async def test_a_script_saves_typed_values(desk: Desk) -> None:
    visitor = await begin(desk, unique("wizard"))
    await visitor.press("go.containers")
    sent = fields_of(visitor.html)
    sent["containers.0.image"], sent["containers.0.ports.0.containerPort"] = "example/web:9", "many"
    url = visitor.url.rpartition("/")[0]
    answer = await ClientAs()(desk.who).post(f"{url}/save", sent)
    assert answer.status_code == 204
    again = await ClientAs()(desk.who).post(f"{url}/save", sent)
    assert again.status_code == 409
    await visitor.open(f"{url}/containers")
    assert visitor.fields["containers.0.image"] == "example/web:9"
    assert visitor.fields["containers.0.ports.0.containerPort"] == "many"


def yaml_of(visitor: WizardVisitor) -> str:
    return visitor.fields["manifest"].replace("\r\n", "\n")
