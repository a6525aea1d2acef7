"""Templates of a workspace: saved from drafts, visible to members, and without values of Secrets."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from asgiref.sync import sync_to_async

from console.audit.models import AuditRecord
from console.drafts.store import DraftContent, DraftKey, store_draft
from console.kube.gvr import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES
from console.saved import templates as store
from console.saved.models import SavedTemplate
from console.saved.service import NameTaken
from console.ui.core.clusters import clusters
from console.wizards.copies import template_text
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.rbac.objects import TENANT, native_binding, native_role, rule
from tests.views.conftest import Utf8Client
from tests.workspaces.fakes import TenantRuntime
from tests.workspaces.service_objects import objects

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("site")]
PAGE = "/workspaces/acme/templates"
DRAFT = "0123456789abcdef"
TEXT = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  selector:
    matchLabels:
      app: web
---
apiVersion: v1
kind: Secret
metadata:
  name: web
  namespace: shop
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"data": "hunter2"}'
data:
  raw: aHVudGVyMg==
stringData:
  password: hunter2
"""


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[TenantRuntime]:
    """A cluster in which `ann` is an administrator of the workspace, `max` a viewer, and both may
    create Deployments.
    """
    given = objects()
    rules = (
        rule("get", "workspaces", TENANT),
        rule("get list", "namespaces"),
        rule("create", "deployments", "apps"),
    )
    for who in ("ann", "max"):
        given[CLUSTER_ROLES].append(native_role(who, *rules))
        given[CLUSTER_ROLE_BINDINGS].append(native_binding(who, who, f"User {who}"))
    found = TenantRuntime(given)
    monkeypatch.setattr(found, "as_user", lambda _identity: found.console)
    set_host_cluster(found)
    yield found
    unset_host_cluster()


async def get(path: str, who: str = "ann") -> tuple[int, str]:
    answer = await Utf8Client().get(path, headers={"X-Person": who})
    return answer.status_code, answer.content.decode()


async def post(path: str, who: str = "ann", **fields: str) -> Any:
    return await Utf8Client().post(path, fields, headers={"X-Person": who})


async def new_url(who: str = "ann") -> str:
    """Store a draft and return the URL of the page that saves it as a template."""
    key = DraftKey(who, "host", "deployments", "", f"#{DRAFT}")
    await sync_to_async(store_draft)(key, DraftContent(TEXT, title="web", project="shop"), 0)
    return f"{PAGE}/-/new?cluster=host&kind=deployments&draft={DRAFT}"


async def saved() -> SavedTemplate:
    return await SavedTemplate.objects.aget()


async def test_a_draft_is_saved_renamed_and_deleted_with_audit_records(
    runtime: TenantRuntime,
) -> None:
    url = await new_url()
    status, page = await get(url)
    assert status == 200 and 'value="web"' in page
    answer = await post(url, name="Web app", description="With probes")
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    template = await saved()
    _status, page = await get(PAGE)
    assert "Web app" in page and "With probes" in page
    assert f'href="/clusters/host/new/deployments?template={template.pk}"' in page
    answer = await post(f"{PAGE}/{template.pk}", name="Shop", description="")
    assert answer.status_code == 302 and (await saved()).name == "Shop"
    assert (await get(f"{PAGE}/{template.pk}/delete"))[0] == 200
    assert (await post(f"{PAGE}/{template.pk}/delete")).status_code == 302
    assert not await SavedTemplate.objects.aexists()
    records = AuditRecord.objects.order_by("id")
    assert [(one.verb, one.resource, one.name, one.code) async for one in records] == [
        ("create", "savedtemplates", "acme/Web app", 200),
        ("update", "savedtemplates", "acme/Web app", 200),
        ("delete", "savedtemplates", "acme/Shop", 200),
    ]


async def test_a_template_contains_no_value_of_a_secret_and_no_project(
    runtime: TenantRuntime,
) -> None:
    await post(await new_url(), name="Web app", description="")
    template = await saved()
    text = store.content_of(template)
    deployment, secret = yaml.safe_load_all(text)
    assert secret["stringData"] == {"raw": "", "password": ""} and "data" not in secret
    assert "hunter2" not in text and "aHVudGVyMg" not in text
    assert deployment["metadata"] == {"name": "web"} and secret["metadata"] == {"name": "web"}
    assert "app: web" not in template.content


def test_secrets_in_lists_are_saved_without_values(runtime: TenantRuntime) -> None:
    listed = {
        "apiVersion": "v1",
        "kind": "SecretList",
        "items": [{"metadata": {"name": "a"}, "data": {"password": "aHVudGVyMg=="}}],
    }
    text = template_text(clusters.host.kinds, yaml.safe_dump(listed))
    assert yaml.safe_load(text)["stringData"] == {"password": ""}


async def test_a_member_uses_templates_and_cannot_change_them(runtime: TenantRuntime) -> None:
    await post(await new_url(), name="Web app", description="")
    number = (await saved()).pk
    status, page = await get(PAGE, "max")
    assert status == 200 and "Web app" in page and "/delete" not in page
    assert "Web app" in (await get("/clusters/host/new", "max"))[1]
    for path in (await new_url("max"), f"{PAGE}/{number}", f"{PAGE}/{number}/delete"):
        assert (await get(path, "max"))[0] == 403
        assert (await post(path, "max", name="x", description="")).status_code == 403
    assert (await saved()).name == "Web app"
    for path in ("/clusters/host/new", f"/clusters/host/new/deployments?template={number}"):
        status, page = await get(path, "eve")
        assert "Web app" not in page and status in (403, 404)


async def test_a_new_object_starts_from_a_template_with_a_free_name(runtime: TenantRuntime) -> None:
    await post(await new_url(), name="Web app", description="")
    number = (await saved()).pk
    url = f"/clusters/host/new/deployments?namespace=shop&template={number}"
    status, page = await get(url, "max")
    assert status == 200 and 'name="name" value="web"' in page.replace('id="w-name" ', ""), page
    for wrong in (
        f"configmaps?template={number}",
        "deployments?template=0",
        "deployments?template=x",
    ):
        assert (await get(f"/clusters/host/new/{wrong}", "max"))[0] in (403, 404)


async def test_a_later_workspace_with_the_same_name_has_no_templates_of_the_earlier(
    runtime: TenantRuntime,
) -> None:
    await post(await new_url(), name="Web app", description="")
    await SavedTemplate.objects.aupdate(workspace="uid-of-a-deleted-workspace")
    assert "Web app" not in (await get(PAGE))[1]
    number = (await saved()).pk
    assert (await get(f"/clusters/host/new/deployments?template={number}"))[0] == 404
    assert (await get(f"{PAGE}/{number}"))[0] == 404


@pytest.mark.parametrize(
    ("name", "message"), [("", "This field is required"), ("x" * 61, "Use at most 60 characters")]
)
async def test_invalid_names_are_reported(runtime: TenantRuntime, name: str, message: str) -> None:
    answer = await post(await new_url(), name=name, description="kept")
    assert answer.status_code == 400
    assert message in answer.content.decode() and "kept" in answer.content.decode()


async def test_a_taken_name_and_the_limits_are_reported(
    runtime: TenantRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = await new_url()
    await post(url, name="Web app", description="")
    answer = await post(url, name="Web app", description="")
    assert answer.status_code == 409 or b"Another template has this name" in answer.content
    monkeypatch.setattr(store, "MAX_TEMPLATES", 1)
    assert b"at most" in (await post(url, name="Other", description="")).content
    monkeypatch.setattr(store, "MAX_TEMPLATES", 2)
    monkeypatch.setattr(store, "MAX_LENGTH", 10)
    assert b"characters of YAML" in (await post(url, name="Other", description="")).content
    assert await SavedTemplate.objects.acount() == 1


async def test_only_own_drafts_are_saved(runtime: TenantRuntime) -> None:
    await new_url("max")
    url = f"{PAGE}/-/new?cluster=host&kind=deployments&draft={DRAFT}"
    for wrong in (url, f"{PAGE}/-/new", url.replace("host", "other")):
        assert (await get(wrong))[0] == 404


def test_a_template_cannot_get_the_name_of_another() -> None:
    text = store.TemplateText("a", "")
    store.save_template("w", "ann", "pods", text, "x")
    store.save_template("w", "ann", "pods", store.TemplateText("b", ""), "x")
    found = next(one for one in store.templates_of(["w"]) if one.name == "b")
    with pytest.raises(NameTaken):
        store.change_template("w", found.pk, text)
    assert not store.change_template("other", found.pk, text)
    assert not store.delete_template("other", found.pk)
