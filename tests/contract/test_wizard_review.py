"""The review of a wizard and the faults after it: quotas, taken names, other windows, and objects that
are refused after others were created.
"""

import re
from collections.abc import Iterator

import pytest

from console.drafts import store as drafts
from console.kube.gvr import CONFIG_MAPS, DEPLOYMENTS, LIMIT_RANGES, RESOURCE_QUOTAS, Key
from console.kube.runtime import Runtime
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.grants import Grants, rule
from tests.contract.import_pages import Desk, desk_of
from tests.contract.objects import path, unique
from tests.contract.pages import console_on, join, known
from tests.contract.wizard_pages import GROUP, WizardVisitor, begin
from tests.controlplane.waiting import eventually
from tests.ui.support import FakeAccess
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    types = [CONFIG_MAPS, DEPLOYMENTS, LIMIT_RANGES, RESOURCE_QUOTAS]
    with console_on(cluster, types) as found:
        yield found


@pytest.fixture
def namespace(empty_namespace: str) -> str:
    """A project of one test, because quotas apply to all of its objects."""
    return empty_namespace


@pytest.fixture
def desk(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    namespace: str,
    cleanup: Cleanup,
    runtime: Runtime,
) -> Desk:
    rights = (
        rule("create delete get patch", "services pods"),
        rule("create delete get patch", "deployments", "apps"),
    )
    where = {namespace}
    shown = FakeAccess(unique("editor"), list_in=where, delete_in=where, get_in=where)
    join(shown, Grants(cleanup, namespace).team(*rights, here=True))
    return desk_of(monkeypatch, admin, namespace, shown)


async def reviewed(desk: Desk, name: str) -> WizardVisitor:
    """Fill in a Deployment with a Service, and open its review."""
    visitor = await begin(desk, name)
    await visitor.press("go.network")
    await visitor.press("act.service.show", service="on")
    await visitor.press("go.review")
    assert "Can be created" in visitor.html, visitor.html
    return visitor


def quota(desk: Desk, runtime: Runtime, **hard: str) -> None:
    """Create a quota, and wait until the cluster enforces it and the console shows it."""
    body = {"metadata": {"name": "compute"}, "spec": {"hard": hard}}
    made = desk.admin.post(desk.path("resourcequotas"), body).ok()
    where = desk.path("resourcequotas", "compute")
    eventually(lambda: desk.admin.get(where).ok().get("status", {}).get("used"), "it counts")
    known(runtime, RESOURCE_QUOTAS, made)
    store = runtime.informer(RESOURCE_QUOTAS).store

    def is_shown() -> bool:
        entry = store.get(Key(desk.namespace, "compute"))
        return bool(entry and (entry.original().get("status") or {}).get("used"))

    eventually(is_shown, "its usage is known")


async def test_the_review_compares_the_objects_with_the_quota(desk: Desk, runtime: Runtime) -> None:
    quota(desk, runtime, pods="9", **{"limits.memory": "1Gi", "requests.cpu": "4"})
    name = unique("wizard")
    visitor = await reviewed(desk, name)
    # Two pods with 128Mi.
    table = visitor.html.partition('<table class="change-table">')[2].partition("</table>")[0]
    rows = re.findall(r'<tr><th scope="row" title="([^"]+)">.*?<strong>([^<]+)<', table)
    assert dict(rows) == {"pods": "2", "limits.memory": "256Mi"}
    await visitor.press("go.basics")
    await visitor.press("go.review", replicas="10")
    assert "The objects need more than the quota allows." in visitor.html
    assert "1 too much" in visitor.html and 'value="create"' not in visitor.html
    await visitor.press("go.basics")
    assert "1 more than the quota allows" in visitor.html
    assert visitor.fields["replicas"] == "10"


async def test_the_review_of_an_edit_compares_the_change_with_the_quota(
    desk: Desk, runtime: Runtime
) -> None:
    name = unique("wizard")
    visitor = await reviewed(desk, name)
    await visitor.press("create")
    quota(desk, runtime, pods="4", **{"limits.memory": "1Gi", "count/deployments.apps": "5"})
    await visitor.open(f"/clusters/host/projects/{desk.namespace}/deployments/{name}/edit/form")
    await visitor.press("go.review", replicas="4")
    rows = re.findall(
        r'title="([^"]+)">[^<]*</th><td[^>]*>([^<]+)</td><td[^>]*><strong>([^<]+)<', visitor.main
    )
    assert {resource for resource, _now, _after in rows} == {"pods", "limits.memory"}
    assert "The objects need more than the quota allows." not in visitor.html
    await visitor.open(f"/clusters/host/projects/{desk.namespace}/deployments/{name}/edit/form")
    await visitor.press("go.review", replicas="9")
    assert "The objects need more than the quota allows." in visitor.html
    assert 'value="save"' in visitor.html
    await visitor.press("edit")
    await visitor.press("go.basics")
    await visitor.press("go.review", replicas="2")
    assert 'class="change-table"' not in visitor.html, visitor.main


async def test_defaults_of_the_project_count_towards_the_quota(
    desk: Desk, runtime: Runtime
) -> None:
    limit = {"type": "Container", "defaultRequest": {"cpu": "500m"}, "default": {"cpu": "1"}}
    made = desk.admin.post(
        desk.path("limitranges"), {"metadata": {"name": "usual"}, "spec": {"limits": [limit]}}
    ).ok()
    known(runtime, LIMIT_RANGES, made)
    quota(desk, runtime, **{"requests.cpu": "2", "limits.cpu": "1500m"})
    visitor = await begin(desk, unique("wizard"))
    await visitor.press("go.review")
    rows = re.findall(r'title="([^"]+)">[^<]*</th>.*?<strong>([^<]+)<', visitor.html)
    assert dict(rows) == {"requests.cpu": "1", "limits.cpu": "2"}
    assert "500m too much" in visitor.html


async def test_a_quota_that_is_reached_after_the_review_is_reported(
    desk: Desk, runtime: Runtime
) -> None:
    name = unique("wizard")
    visitor = await reviewed(desk, name)
    quota(desk, runtime, **{"count/deployments.apps": "0"})
    await visitor.press("create")
    assert visitor.status == 409 and "exceeded quota" in visitor.html, visitor.html
    assert desk.admin.get(desk.path("services", name)).status == 404
    await visitor.press("go.containers")
    assert visitor.fields["containers.0.image"] == "example/web:1"


async def test_a_taken_name_is_an_error_at_the_name(desk: Desk) -> None:
    name = unique("wizard")
    visitor = await reviewed(desk, name)
    other = await begin(desk, name)
    await other.press("go.review")
    await other.press("create")
    before = desk.admin.get(desk.path("deployments", name, GROUP)).ok()
    await visitor.press("create")
    assert visitor.status == 409
    said = f"Name {name} is taken by another Deployment in this project."
    assert said in visitor.html
    found = re.search(r'value="go.basics"[^>]*>[^<]*Name</button>: [^<]*taken', visitor.html)
    assert found is not None, visitor.html
    await visitor.press("go.basics")
    assert visitor.fields["name"] == name and said in visitor.html
    assert visitor.html.count('aria-invalid="true"') == 1
    await visitor.press("next", name=unique("wizard"))
    assert "/containers" in visitor.url
    await visitor.press("go.review")
    await visitor.press("create")
    assert "Objects created" in visitor.html
    after = desk.admin.get(desk.path("deployments", name, GROUP)).ok()
    assert after["metadata"]["generation"] == before["metadata"]["generation"]


async def test_a_refused_value_is_shown_at_its_field_until_it_changes(desk: Desk) -> None:
    visitor = await begin(desk, unique("wizard"))
    await visitor.press("go.settings")
    await visitor.press("go.review", priorityClassName="Not Valid")
    await visitor.press("go.settings")
    error = re.search(r'id="w-priorityClassName-error">.*?<span>([^<]+)', visitor.html, re.DOTALL)
    assert error is not None and "spec.template.spec.priorityClassName" in error[1], visitor.html
    await visitor.press("next", priorityClassName="")
    assert "/review" in visitor.url
    assert "Can be created" in visitor.html


async def test_an_object_refused_after_others_is_reported_and_can_be_continued(
    desk: Desk, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = unique("wizard")
    visitor = await reviewed(desk, name)
    found = refuse_next_write(desk, runtime, monkeypatch, "deployments.apps")
    await visitor.press("create")
    assert visitor.status == 207, visitor.html
    assert "Not all objects were created" in visitor.html
    assert "exceeded quota" in visitor.html and "Created: 1" in visitor.html
    service = desk.admin.get(desk.path("services", name)).ok()
    # Another page load shows the same state.
    await visitor.open(visitor.url)
    assert visitor.url.endswith("/creating") and "Created: 1" in visitor.html, visitor.html
    desk.admin.delete(found).ok()
    await visitor.press("go.review")
    assert "Create 1 object" in visitor.html, visitor.html
    await visitor.press("create")
    assert visitor.url.endswith("/created"), visitor.html
    again = desk.admin.get(desk.path("services", name)).ok()
    assert again["metadata"]["uid"] == service["metadata"]["uid"]
    assert desk.admin.get(desk.path("deployments", name, GROUP)).ok()
    assert f"{name}" in visitor.html and visitor.html.count('class="full link"') == 2


def refuse_next_write(
    desk: Desk, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, counted: str
) -> str:
    """Let a quota forbid objects of a type from when the first object is created. Return its path."""
    body = {"metadata": {"name": "none"}, "spec": {"hard": {f"count/{counted}": "0"}}}
    where = desk.path("resourcequotas", "none")
    store = drafts.store_draft
    made: list[Obj] = []

    def stored(place: drafts.DraftKey, content: drafts.DraftContent, version: int) -> int:
        if content.step == "creating" and content.made != "[]" and not made:
            made.append(desk.admin.post(desk.path("resourcequotas"), body).ok())
            usage = lambda: desk.admin.get(where).ok().get("status", {}).get("used")  # noqa: E731
            eventually(usage, "it counts")
        return store(place, content, version)

    monkeypatch.setattr(drafts, "store_draft", stored)
    return where


async def test_a_second_window_keeps_its_input_and_names_the_newer_draft(desk: Desk) -> None:
    visitor = await begin(desk, unique("wizard"))
    await visitor.press("go.containers")
    second = WizardVisitor(desk.who)
    await second.open(visitor.url)
    await visitor.press("go.settings", containers__0__image="example/web:2")
    await second.press("next", containers__0__image="example/web:3")
    assert "You have a draft from" in second.html
    await second.press("go.containers")
    assert second.fields["containers.0.image"] == "example/web:3"
    await visitor.press("go.containers")
    assert visitor.fields["containers.0.image"] == "example/web:2"


async def test_a_second_window_shows_what_the_first_created(desk: Desk) -> None:
    name = unique("wizard")
    visitor = await reviewed(desk, name)
    second = WizardVisitor(desk.who)
    await second.open(visitor.url)
    await visitor.press("create")
    await second.press("create")
    assert second.url.endswith("/created") and name in second.html


async def test_pods_that_the_project_refuses_are_an_error_of_the_review(
    desk: Desk, admin: Client, cluster: Cluster
) -> None:
    label = {"pod-security.kubernetes.io/enforce": "baseline"}
    where = f"/api/v1/namespaces/{desk.namespace}"
    admin.patch(where, {"metadata": {"labels": label}}, MERGE_PATCH).ok()
    try_out = {"securityContext": {"privileged": True}, "name": "c", "image": "example/a:1"}
    body = {"metadata": {"name": "try"}, "spec": {"containers": [try_out]}}
    pods = f"{path(desk.namespace, 'pods')}?dryRun=All"
    if admin.post(pods, body).status == 201:
        pytest.skip("this cluster has no pod security admission")
    visitor = await begin(desk, unique("wizard"))
    await visitor.press("go.containers")
    await visitor.press("go.review", containers__0__privileged="on")
    assert "violates PodSecurity" in visitor.html, visitor.html
    assert 'value="create"' not in visitor.html


async def test_the_manifests_can_be_downloaded(desk: Desk) -> None:
    name = unique("wizard")
    visitor = await reviewed(desk, name)
    found = re.search(r'href="([^"]+)" download', visitor.html)
    assert found is not None
    await visitor.open(found[1])
    assert visitor.html.count("apiVersion:") == 2 and f"name: {name}" in visitor.html
