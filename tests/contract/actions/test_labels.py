"""Editing labels and annotations: only changed values are written."""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from console.audit.models import AuditRecord
from console.kube.gvr import CONFIG_MAPS, NAMESPACES, Key
from console.kube.runtime import Runtime
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster, Kubectl
from tests.contract.grants import Grants, rule
from tests.contract.objects import config_map, path, unique
from tests.contract.pages import join
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, SignedIn, _site
from tests.views.viewers import VIEWERS

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

JSON = {"Accept": "application/json"}
NOTE, APPLIED = "example.com/note", "kubectl.kubernetes.io/last-applied-configuration"


@pytest.fixture(scope="module")
def _runtime(cluster: Cluster) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    runtime.require([NAMESPACES, CONFIG_MAPS])
    eventually(lambda: live(runtime.informer(CONFIG_MAPS)), "config maps are known")
    yield runtime
    runtime.stop()


@pytest.fixture(autouse=True)
def runtime(_runtime: Runtime) -> Iterator[Runtime]:
    set_host_cluster(_runtime)
    yield _runtime
    unset_host_cluster()


@dataclass(frozen=True)
class Project:
    admin: Client
    runtime: Runtime
    namespace: str
    viewer: str

    def make(self, **metadata: dict[str, str]) -> Obj:
        body = config_map(unique("settings"))
        body["metadata"] |= metadata
        made: Obj = self.admin.post(path(self.namespace, "configmaps"), body).ok()
        store, key = self.runtime.informer(CONFIG_MAPS).store, Key(self.namespace, name_of(made))
        eventually(lambda: store.get(key) is not None, f"{key} is known")
        return made

    def change(self, made: Obj, **metadata: dict[str, str | None]) -> None:
        """Change metadata as another user."""
        self.admin.patch(self.at(made), {"metadata": metadata}, MERGE_PATCH).ok()

    def at(self, made: Obj) -> str:
        return path(self.namespace, "configmaps", name_of(made))

    def read(self, made: Obj) -> Any:
        return self.admin.get(self.at(made)).ok()["metadata"]

    def url(self, made: Obj) -> str:
        name = name_of(made)
        return f"/clusters/host/projects/{self.namespace}/configmaps/{name}/actions/labels"

    def client(self, **headers: str) -> SignedIn:
        return ClientAs()(self.viewer, **headers)

    async def form(self, made: Obj) -> dict[str, str]:
        """Return the initial values of the form."""
        page = await text_of(await self.client().get(self.url(made)))
        areas = re.findall(r'<textarea name="(\w+)"[^>]*>\n?(.*?)</textarea>', page, re.DOTALL)
        found = {name: html.unescape(text) for name, text in areas}
        was = re.search(r'name="was" value="([^"]*)"', page)
        assert was is not None and found.keys() == {"labels", "annotations"}, page
        return {**found, "was": html.unescape(was[1]), "uid": made["metadata"]["uid"]}

    async def save(self, made: Obj, sent: dict[str, str], **headers: str) -> Any:
        return await self.client(**headers).post(self.url(made), sent)


def name_of(made: Obj) -> str:
    return str(made["metadata"]["name"])


@pytest.fixture
def project(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    namespace: str,
    cleanup: Cleanup,
    runtime: Runtime,
) -> Project:
    viewer = FakeAccess(
        unique("editor"), list_in={namespace}, delete_in={namespace}, get_in={namespace}
    )
    name = viewer.identity.name
    monkeypatch.setitem(VIEWERS, name, lambda: viewer)
    rights = rule("get list patch", "configmaps")
    join(viewer, Grants(cleanup, namespace).team(rights, here=True))
    return Project(admin, runtime, namespace, name)


async def test_labels_and_annotations_are_added_changed_and_removed(project: Project) -> None:
    made = project.make(
        labels={"app": "web", "tier": "front"}, annotations={NOTE: "a\nb", "plain": "x=y"}
    )
    sent = await project.form(made)
    assert sent["labels"] == "app=web\ntier=front"
    assert sent["annotations"] == f'{NOTE}="a\\nb"\nplain=x=y'
    sent["labels"] = "app=shop\r\n\r\n example.com/new = \r\n"
    sent["annotations"] = 'plain=x=y\r\nother="1\\n2"'
    done = await project.save(made, sent)
    assert done.status_code == 302, await text_of(done)
    found = project.read(made)
    assert found["labels"] == {"app": "shop", "example.com/new": ""}
    assert found["annotations"] == {"plain": "x=y", "other": "1\n2"}
    record = await AuditRecord.objects.aget()
    assert (record.verb, record.resource, record.subresource) == ("patch", "configmaps", "labels")
    assert (record.actor, record.code) == (project.viewer, 200)


async def test_concurrent_changes_of_other_keys_are_kept(project: Project) -> None:
    made = project.make(labels={"app": "web", "tier": "front"}, annotations={NOTE: "old"})
    sent = await project.form(made)
    project.change(
        made, labels={"tier": "back", "theirs": "1"}, annotations={NOTE: None, "theirs": "2"}
    )
    done = await project.save(made, {**sent, "labels": "app=shop\ntier=front"})
    assert done.status_code == 302, await text_of(done)
    found = project.read(made)
    assert found["labels"] == {"app": "shop", "tier": "back", "theirs": "1"}
    assert found["annotations"] == {"theirs": "2"}


@pytest.mark.parametrize("labels", ["app=shop", ""])
async def test_concurrent_changes_of_the_same_key_conflict(project: Project, labels: str) -> None:
    made = project.make(labels={"app": "web"})
    sent = await project.form(made)
    project.change(made, labels={"app": "theirs"})
    refused = await project.save(made, {**sent, "labels": labels})
    text = await text_of(refused)
    assert refused.status_code == 409
    assert (
        "This object was changed in the meantime. Reload the page and try again. The "
        "value of app has changed in the meantime."
    ) in text
    assert project.read(made)["labels"] == {"app": "theirs"}


async def test_hidden_annotations_are_kept(project: Project) -> None:
    long = "x" * 5000
    made = project.make(
        labels={"app.kubernetes.io/name": "web", "node.kubernetes.io/zone": "a"},
        annotations={APPLIED: "{}", "long": long},
    )
    page = await text_of(await project.client().get(project.url(made)))
    assert f"These keys are not shown here and will not be changed: {APPLIED}, long." in page
    assert "Kubernetes uses these keys and may set them again: node.kubernetes.io/zone." in page
    sent = await project.form(made)
    assert sent["annotations"] == ""
    done = await project.save(made, {**sent, "annotations": "mine=1"})
    assert done.status_code == 302
    assert project.read(made)["annotations"] == {APPLIED: "{}", "long": long, "mine": "1"}


async def test_hidden_annotations_cannot_be_overwritten(project: Project) -> None:
    made = project.make(annotations={APPLIED: "{}"})
    sent = await project.form(made)
    refused = await project.save(made, {**sent, "annotations": f"{APPLIED}=mine"})
    assert refused.status_code == 409
    assert project.read(made)["annotations"] == {APPLIED: "{}"}


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("labels", "app=web!", "Line 1: “web!” is not a valid label value"),
        ("labels", "a=1\napp", "Line 2: Use key=value."),
        ("labels", "a=1\na=2", "Line 2: This key appears more than once."),
        ("labels", "a b=1", "Line 1: “a b” is not a valid key"),
        ("labels", f"a={'x' * 64}", "is not a valid label value"),
        ("annotations", "Example.com/a=1\n/b=1", "Line 2: “/b” is not a valid key"),
        (
            "annotations",
            'a="1',
            (
                "Line 1: A value that starts with a quotation mark must end with a quotation "
                "mark, as a JSON string."
            ),
        ),
        ("annotations", 'a="1" 2', "Line 1: A value that starts with a quotation mark"),
        ("annotations", 'a="\\ud800"', "Line 1: A value that starts with a quotation mark"),
        ("labels", "", "No changes were made."),
    ],
)
async def test_invalid_labels_and_annotations_are_reported(
    project: Project, field: str, typed: str, said: str
) -> None:
    made = project.make()
    sent = await project.form(made)
    refused = await project.save(made, {**sent, field: typed})
    text = html.unescape(await text_of(refused))
    assert refused.status_code == 400 and said in text
    answer = await project.save(made, {**sent, field: typed}, **JSON)
    status = json.loads(await text_of(answer))
    assert status["code"] == 400
    assert "labels" not in project.read(made)


async def test_validation_errors_of_the_cluster_are_reported_at_the_field(project: Project) -> None:
    """The total size of all annotations is limited."""
    made = project.make(annotations={f"a{n}": "x" * 4000 for n in range(50)})
    sent = await project.form(made)
    more = "\n".join(f"b{n}={'é' * 2000}" for n in range(20))
    refused = await project.save(made, {**sent, "annotations": f"{sent['annotations']}\n{more}"})
    text = await text_of(refused)
    assert refused.status_code == 422, text
    assert 'href="#form-annotations">Annotations: Too long' in text
    assert len(project.read(made)["annotations"]) == 50


@pytest.mark.parametrize(
    "was", ["", "{", "[]", '{"labels": 1}', '{"labels": {"a": 1}}', "[" * 5000]
)
async def test_a_tampered_baseline_is_rejected(project: Project, was: str) -> None:
    made = project.make(labels={"app": "web"})
    sent = await project.form(made)
    refused = await project.save(made, {**sent, "was": was, "labels": "app=shop"})
    assert refused.status_code in (400, 409)
    assert project.read(made)["labels"] == {"app": "web"}


async def test_a_recreated_object_of_the_same_name_is_not_edited(project: Project) -> None:
    made = project.make(labels={"app": "web"})
    sent = await project.form(made)
    refused = await project.save(made, {**sent, "uid": "another", "labels": "app=shop"})
    assert refused.status_code == 409
    assert "replaced by another object with the same name" in await text_of(refused)
    assert project.read(made)["labels"] == {"app": "web"}


@pytest.mark.parametrize("claimed", [False, True])
async def test_users_without_permission_cannot_edit_labels(
    project: Project, monkeypatch: pytest.MonkeyPatch, namespace: str, claimed: bool
) -> None:
    made = project.make(labels={"app": "web"})
    sent = await project.form(made)
    rights = {namespace} if claimed else set[str]()
    rita = FakeAccess(unique("rita"), list_in={namespace}, delete_in=rights, get_in=rights)
    monkeypatch.setitem(VIEWERS, rita.identity.name, lambda: rita)
    client = ClientAs()(rita.identity.name)
    refused = await client.post(project.url(made), {**sent, "labels": "app=shop"})
    assert refused.status_code == 403
    assert project.read(made)["labels"] == {"app": "web"}


async def test_the_kubectl_command_has_the_same_effect(project: Project, kubectl: Kubectl) -> None:
    made, other = (project.make(labels={"app": "web", "old": "1"}) for _ in range(2))
    name = name_of(made)
    page = await text_of(await project.client().get(project.url(made)))
    line = f"kubectl label --overwrite configmaps {name} KEY=VALUE -n {project.namespace}"
    assert line in page
    sent = await project.form(made)
    typed = {"labels": "app=shop", "annotations": "example.com/a=b c"}
    refused = await project.save(made, {**sent, **typed, "uid": "another"})
    text = html.unescape(await text_of(refused))
    told = re.search(r"<code>(kubectl label .*?)</code>", text)
    assert told is not None
    assert told[1] == (
        f"kubectl label --overwrite configmaps {name} app=shop old- -n {project.namespace} && "
        f"kubectl annotate --overwrite configmaps {name} 'example.com/a=b c' -n {project.namespace}"
    )
    kubectl("label", "--overwrite", "configmaps", name_of(other), "app=shop", "old-")
    kubectl("annotate", "--overwrite", "configmaps", name_of(other), "example.com/a=b c")
    assert (await project.save(made, {**sent, **typed})).status_code == 302
    mine, theirs = project.read(made), project.read(other)
    assert (mine["labels"], mine["annotations"]) == (theirs["labels"], theirs["annotations"])
