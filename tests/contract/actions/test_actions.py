"""The action framework, tested with "Restart" and an action that the test adds."""

import html
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from console.actions.workloads.rollouts import RESTARTED_ANNOTATION
from console.audit.models import AuditRecord
from console.kube.gvr import DEPLOYMENTS, NAMESPACES, Key
from console.kube.runtime import Runtime
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl
from console.ui.core.actions import Action, ActionContext, ActionSucceeded, Outcome, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.registry import kinds
from console.ui.forms.forms import ConsoleForm, TextField
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.grants import Grants, rule
from tests.contract.objects import path, unique
from tests.contract.pages import join
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, SignedIn, _site
from tests.views.viewers import VIEWERS

__all__ = ["_site"]

NOTE = "example.com/note"
JSON = {"Accept": "application/json"}

pytestmark = pytest.mark.django_db(transaction=True)


class NoteForm(ConsoleForm):
    note = TextField(label="Note", max_length=20)


@dataclass(frozen=True, kw_only=True)
class Label(Action):
    """Write the submitted note to a label. Does not apply to objects that already have the label."""

    name: ClassVar[str] = "label"
    label: ClassVar[str] = "Label"
    needs: ClassVar[tuple[Permission, ...]] = (Permission("patch"),)
    form: ClassVar[type[ConsoleForm] | None] = NoteForm

    def applicable(self, entry: Entry[Any]) -> bool:
        return NOTE not in entry.projection.labels

    def initial(self, entry: Entry[Any]) -> dict[str, str]:
        return {"note": f"about {entry.key.name[:3]}"}

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return kubectl(f"label deployment {key.name} {NOTE}={data['note']}", key)

    async def run(self, context: ActionContext) -> Outcome:
        await context.patch({"metadata": {"labels": {NOTE: context.data["note"]}}})
        return ActionSucceeded("Labelled.")


@pytest.fixture(autouse=True)
def kind(monkeypatch: pytest.MonkeyPatch) -> Iterator[ResourceKind]:
    """Add the `Label` action to Deployments for the duration of a test."""
    found = kinds.by_type(DEPLOYMENTS)
    assert found is not None
    worked_out = ("action_checks", "actions_by_name")
    for name in worked_out:
        found.__dict__.pop(name, None)
    monkeypatch.setattr(type(found), "actions", (*found.actions, Label()))
    yield found
    for name in worked_out:
        found.__dict__.pop(name, None)


@pytest.fixture(scope="module")
def _runtime(cluster: Cluster) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    runtime.require([NAMESPACES, DEPLOYMENTS])
    eventually(lambda: live(runtime.informer(DEPLOYMENTS)), "deployments are known")
    yield runtime
    runtime.stop()


@pytest.fixture(autouse=True)
def runtime(_runtime: Runtime) -> Iterator[Runtime]:
    set_host_cluster(_runtime)
    yield _runtime
    unset_host_cluster()


@dataclass(frozen=True)
class Shop:
    """A project and a user with permission to change Deployments in it, in the console and in the
    cluster.
    """

    admin: Client
    runtime: Runtime
    namespace: str
    viewer: FakeAccess

    def deployment(self) -> Obj:
        name = unique("web")
        labels = {"app": name}
        template = {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "app", "image": "registry.example/app:1"}]},
        }
        spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
        made: Obj = self.admin.post(self._path(), {"metadata": {"name": name}, "spec": spec}).ok()
        store = self.runtime.informer(DEPLOYMENTS).store
        eventually(lambda: any(key.name == name for key in store.snapshot().entries), "it is known")
        return made

    def restarted(self, made: Obj) -> str:
        found = self.admin.get(self._path(made["metadata"]["name"])).ok()
        about = found["spec"]["template"]["metadata"]
        return str(about.get("annotations", {}).get(RESTARTED_ANNOTATION, ""))

    def url(self, made: Obj) -> str:
        name = made["metadata"]["name"]
        return f"/clusters/host/projects/{self.namespace}/deployments/{name}"

    def client(self, **headers: str) -> SignedIn:
        return ClientAs()(self.viewer.identity.name, **headers)

    def _path(self, *name: str) -> str:
        return path(self.namespace, "deployments", *name, group="apps/v1")


@pytest.fixture
def shop(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    namespace: str,
    cleanup: Cleanup,
    runtime: Runtime,
) -> Shop:
    viewer = FakeAccess(unique("editor"), list_in={namespace}, delete_in={namespace})
    name = viewer.identity.name
    monkeypatch.setitem(VIEWERS, name, lambda: viewer)
    rights = rule("get list patch", "deployments", "apps")
    join(viewer, Grants(cleanup, namespace).team(rights, here=True))
    return Shop(admin, runtime, namespace, viewer)


async def test_an_action_runs_after_confirmation(shop: Shop) -> None:
    made = shop.deployment()
    name, uid = made["metadata"]["name"], made["metadata"]["uid"]
    url = f"{shop.url(made)}/actions/restart"
    assert f'href="{url}"' in await text_of(await shop.client().get(shop.url(made)))
    listed = await text_of(await shop.client().get("/clusters/host/deployments"))
    assert f'href="{url}"' in listed and 'formaction="/bulk/host/deployments/restart"' in listed
    asked = await text_of(await shop.client().get(url))
    assert '<h1 id="confirm-title">Restart deployment' in asked
    assert "All pods are replaced" in asked
    assert f"kubectl rollout restart deployments.apps {name} -n {shop.namespace}" in asked
    assert uid in asked
    done = await shop.client().post(url, {"uid": uid})
    assert done.status_code == 302, await text_of(done)
    assert done["Location"] == shop.url(made)
    assert shop.restarted(made)
    record = await AuditRecord.objects.aget()
    assert (record.verb, record.subresource, record.name) == ("patch", "restart", name)
    assert (record.actor, record.code) == (shop.viewer.identity.name, 200)


async def test_api_clients_receive_a_status(shop: Shop) -> None:
    made = shop.deployment()
    url = f"{shop.url(made)}/actions/restart"
    answer = await shop.client(**JSON).post(url, {"uid": made["metadata"]["uid"]})
    status = json.loads(await text_of(answer))
    assert (answer.status_code, status["kind"], status["status"]) == (200, "Status", "Success")
    assert status["message"] == f"Restarted deployment {made['metadata']['name']}."
    assert shop.restarted(made)
    for data, code in (({}, 400), ({"uid": "x" * 200}, 400)):
        answer = await shop.client(**JSON).post(url, data)
        assert json.loads(await text_of(answer))["code"] == answer.status_code == code


async def test_a_recreated_object_of_the_same_name_is_not_changed(shop: Shop) -> None:
    made = shop.deployment()
    url = f"{shop.url(made)}/actions/restart"
    page = await shop.client().post(url, {"uid": "another"})
    assert page.status_code in (409, 422)
    assert "replaced by another object with the same name" in await text_of(page)
    answer = await shop.client(**JSON).post(url, {"uid": "another"})
    assert json.loads(await text_of(answer))["status"] == "Failure"
    assert not shop.restarted(made)


async def test_a_bulk_action_applies_to_all_selected_objects(shop: Shop) -> None:
    several = [shop.deployment() for _ in range(3)]
    keys = [f"{shop.namespace}/{made['metadata']['name']}" for made in several]
    url = "/bulk/host/deployments/restart"
    asked = await text_of(await shop.client().post(url, {"keys": "\n".join(keys)}))
    assert "Restart 3 deployments" in asked
    lines = "\n".join(
        f"{made['metadata']['uid']} {key.replace('/', '%2F')}"
        for made, key in zip(several, keys, strict=True)
    )
    done = await text_of(await shop.client().post(url, {"targets": lines}))
    assert 'data-done="3"' in done
    assert all(f'href="{shop.url(made)}"' in done for made in several)
    assert all(shop.restarted(made) for made in several)
    assert await AuditRecord.objects.filter(subresource="restart").acount() == 3


async def test_users_without_permission_see_the_missing_permission(shop: Shop) -> None:
    made = shop.deployment()
    url = f"{shop.url(made)}/actions/restart"
    for who in ("charlie", "bob"):
        page = await ClientAs()(who).post(url, {"uid": made["metadata"]["uid"]})
        assert page.status_code == 403
        verb = "list" if who == "charlie" else "patch"
        assert f"You don't have permission to {verb} deployments" in html.unescape(
            await text_of(page)
        )
        answer = await ClientAs()(who, **JSON).post(url, {"uid": made["metadata"]["uid"]})
        status = json.loads(await text_of(answer))
        assert (status["code"], status["reason"]) == (403, "Forbidden")
    assert "/actions/restart" not in await text_of(await ClientAs()("bob").get(shop.url(made)))
    assert not shop.restarted(made)


async def test_the_cluster_rejects_an_action_that_the_console_allowed(shop: Shop) -> None:
    """The console believes that the user has a permission that the cluster does not grant."""
    made = shop.deployment()
    found = FakeAccess(unique("eve"), list_in={shop.namespace}, delete_in={shop.namespace})
    VIEWERS[found.identity.name] = lambda: found
    try:
        client = ClientAs()(found.identity.name)
        page = await client.post(
            f"{shop.url(made)}/actions/restart", {"uid": made["metadata"]["uid"]}
        )
    finally:
        del VIEWERS[found.identity.name]
    assert page.status_code == 403
    text = await text_of(page)
    assert "Permission denied by the cluster." in text and made["metadata"]["uid"] in text
    assert not shop.restarted(made)
    record = await AuditRecord.objects.aget()
    assert record.code == 403


async def test_form_input_is_validated_and_passed_to_the_action(shop: Shop) -> None:
    made = shop.deployment()
    url, uid = f"{shop.url(made)}/actions/label", made["metadata"]["uid"]
    asked = await text_of(await shop.client().get(url))
    assert 'value="about web"' in asked
    for wrong in ("", "x" * 21):
        page = await shop.client().post(url, {"uid": uid, "note": wrong})
        text = await text_of(page)
        assert page.status_code == 400 and uid in text and "problem-line" in text
        answer = await shop.client(**JSON).post(url, {"uid": uid, "note": wrong})
        status = json.loads(await text_of(answer))
        assert status["code"] == 400
        assert [cause["field"] for cause in status["details"]["causes"]] == ["note"]
    assert (await shop.client().post(url, {"uid": uid, "note": "seen"})).status_code == 302
    name, store = made["metadata"]["name"], shop.runtime.informer(DEPLOYMENTS).store
    key = Key(shop.namespace, name)

    def noted() -> bool:
        entry = store.get(key)
        return entry is not None and entry.projection.labels.get(NOTE) == "seen"

    eventually(noted, "the note is known")
    # The action no longer applies: it is not offered, and its page and its submission are rejected.
    assert "actions/label" not in await text_of(await shop.client().get(shop.url(made)))
    assert (await shop.client().get(url)).status_code == 409
    page = await shop.client().post(url, {"uid": uid, "note": "again"})
    assert page.status_code == 409
    said = html.unescape(await text_of(page))
    assert "The current state of the object doesn't allow this action." in said


async def test_the_kubectl_command_reflects_the_form_input(shop: Shop) -> None:
    made = shop.deployment()
    name, uid = made["metadata"]["name"], made["metadata"]["uid"]
    url = f"{shop.url(made)}/actions/label"

    async def sent(**fields: str) -> tuple[int, str]:
        page = await shop.client().post(url, {"uid": uid, **fields})
        return page.status_code, (await text_of(page)).partition("<main")[2]

    line = f"label deployment {name} {NOTE}="
    code, text = await sent(step="edit", note="seen")
    assert code == 200 and f"{line}seen -n" in text and 'value="seen"' in text
    # Invalid input shows no command.
    code, text = await sent(step="edit", note="x" * 21)
    assert code == 400 and line not in text and "problem-line" in text
    for step in ("review", "delete"):
        assert (await sent(step=step, note="seen"))[0] == 400
    answer = await shop.client(**JSON).post(url, {"uid": uid, "note": "seen", "step": "edit"})
    assert answer.status_code == 400
    assert await AuditRecord.objects.acount() == 0
    found = shop.admin.get(path(shop.namespace, "deployments", name, group="apps/v1")).ok()
    assert NOTE not in found["metadata"].get("labels", {})
