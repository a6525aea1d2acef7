"""Creating objects from YAML: the review, the creation, and its order."""

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from console.audit import trail
from console.audit.models import AuditRecord
from console.history.models import ObjectChange
from console.kube.gvr import BUILT_IN_GROUPS
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import MASK
from console.ui.core.registry import kinds
from console.ui.editing.creating import skeleton
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Kubectl
from tests.contract.console import _runtime, runtime
from tests.contract.crds import definition, widget
from tests.contract.grants import VERSION, Grants, rule
from tests.contract.import_pages import URL, Desk, desk, desk_of, text_for
from tests.contract.objects import CRDS, config_map, deployment, path, secret, unique
from tests.contract.objects import NAMESPACES as ALL_NAMESPACES
from tests.contract.pages import join
from tests.support.database import no_database
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, _site

__all__ = ["_runtime", "_site", "desk", "runtime"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def boss(monkeypatch: pytest.MonkeyPatch, admin: Client, namespace: str, cleanup: Cleanup) -> Desk:
    """A user with all permissions."""
    shown = FakeAccess(unique("boss"), get_in=None)
    join(shown, Grants(cleanup, namespace).team(rule("*", "*", "*")))
    return desk_of(monkeypatch, admin, namespace, shown)


def outcomes(items: list[Obj]) -> list[tuple[str, str]]:
    return [(one["details"]["kind"], one["details"]["outcome"]) for one in items]


def plain(found: Obj) -> Obj:
    """Return the object without the fields that differ between identical objects."""
    own = {"name", "uid", "resourceVersion", "creationTimestamp", "managedFields"}
    about = {k: v for k, v in found["metadata"].items() if k not in own}
    return {**found, "metadata": about}


async def test_created_objects_match_the_output_of_kubectl(desk: Desk, kubectl: Kubectl) -> None:
    def service(name: str) -> Obj:
        spec = {"selector": {"app": "web"}, "ports": [{"port": 80}], "clusterIP": "None"}
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}

    def web(name: str) -> Obj:
        made = deployment("web", "example/web:1")
        return {**made, "metadata": {**made["metadata"], "name": name}}

    kinds: dict[str, Callable[[str], Obj]] = {
        "configmaps": lambda name: config_map(name, a="1", b="yes"),
        "secrets": lambda name: secret(name, a="b"),
        "services": service,
        "deployments.apps": web,
    }
    for plural, make in kinds.items():
        ours, theirs = unique("ours"), unique("theirs")
        status, [told] = await desk.send("review", make(ours))
        assert (status, told["details"]["outcome"]) == (200, "done"), told["message"]
        assert not await AuditRecord.objects.filter(name=ours).aexists()
        status, [told] = await desk.send("create", make(ours))
        assert (status, told["status"]) == (200, "Success"), told
        kubectl("create", "-f", "-", input=json.dumps(make(theirs)))
        one, other = kubectl.read(plural, ours), kubectl.read(plural, theirs)
        assert one["metadata"]["uid"] == told["details"]["uid"]
        assert plain({**one, "status": 0}) == plain({**other, "status": 0})
        record = await AuditRecord.objects.aget(name=ours)
        assert (record.verb, record.namespace) == ("create", desk.namespace)
        assert (record.actor, record.code) == (desk.who, 200)


@pytest.mark.also_old
async def test_documents_are_created_in_dependency_order(boss: Desk, cleanup: Cleanup) -> None:
    """Objects are created after their dependencies, in a project that is created in the same
    import.
    """
    name, about = unique("contract"), {"name": "it"}
    cleanup.forget(f"{ALL_NAMESPACES}/{name}")
    inside = {**about, "namespace": name}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "it"}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    ingress = {"defaultBackend": {"service": {"name": "it", "port": {"number": 80}}}}
    job = {
        "template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}
        }
    }
    documents: list[Obj] = [
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "metadata": inside,
            "spec": ingress,
        },
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": inside, "spec": job},
        {**deployment("it", "example/a:1"), "metadata": inside},
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": inside,
            "spec": {"ports": [{"port": 80}]},
        },
        {"apiVersion": VERSION, "kind": "RoleBinding", "metadata": inside, "roleRef": role},
        {"apiVersion": VERSION, "kind": "Role", "metadata": inside, "rules": []},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": inside, "spec": claim},
        {**config_map("it"), "metadata": inside},
        {**secret("it"), "metadata": inside},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
    ]
    kinds = [
        *("Namespace", "Secret", "ConfigMap", "PersistentVolumeClaim", "Role", "RoleBinding"),
        *("Service", "Deployment", "Job", "Ingress"),
    ]
    status, items = await boss.send("review", *documents)
    assert status == 200
    assert outcomes(items) == [("Namespace", "done"), *((kind, "untried") for kind in kinds[1:])]
    assert f"Namespace {name}" in items[1]["message"]
    status, items = await boss.send("create", *documents)
    assert status == 200, [one["message"] for one in items]
    assert outcomes(items) == [(kind, "done") for kind in kinds]
    lines = [one["details"]["line"] for one in items]
    assert lines[0] == max(lines)
    assert {one["details"]["change"] for one in items} == {"create"}
    found = boss.admin.get(path(name, "ingresses", "it", group="networking.k8s.io/v1")).ok()
    assert found["metadata"]["uid"] == items[-1]["details"]["uid"]
    records = [one async for one in AuditRecord.objects.order_by("pk")]
    assert [one.resource for one in records][:2] == ["namespaces", "secrets"] and len(records) == 10


async def test_a_definition_and_its_objects_are_created_together(
    boss: Desk, cleanup: Cleanup
) -> None:
    crd = definition()
    cleanup.forget(f"{CRDS}/{crd['metadata']['name']}")
    documents = [widget(crd, "small", size=2), crd]
    status, items = await boss.send("review", *documents)
    assert (status, outcomes(items)) == (
        200, [("CustomResourceDefinition", "done"), ("Widget", "untried")]
    )  # fmt: skip
    assert crd["metadata"]["name"] in items[1]["message"]
    status, items = await boss.send("create", *documents)
    assert status == 200, items
    where = path(boss.namespace, "widgets", "small", group=f"{crd['spec']['group']}/v1")
    assert boss.admin.get(where).ok()["spec"]["color"] == "blue"
    # The definition exists now, and its schema is used for validation.
    status, [told] = await boss.send("review", widget(crd, "large", size=10))
    assert status == 422 and "spec.size" in told["message"]


async def test_a_rejected_object_does_not_stop_the_others(desk: Desk) -> None:
    taken, first, last = unique("taken"), unique("first"), unique("last")
    desk.admin.post(desk.path("configmaps"), config_map(taken, a="kept")).ok()
    invalid: Obj = {**config_map(taken), "data": {"a b": "1"}}
    documents = [config_map(first), invalid, config_map(last)]
    status, items = await desk.send("review", *documents)
    assert status == 422 and [one["code"] for one in items] == [200, 422, 200]
    status, items = await desk.send("create", *documents)
    assert status == 207
    assert [one["details"]["outcome"] for one in items] == ["done", "refused", "done"]
    assert desk.admin.get(desk.path("configmaps", taken)).ok()["data"] == {"a": "kept"}
    assert desk.admin.get(desk.path("configmaps", last)).status == 200


def seen_in(html: str) -> str:
    found = re.search(r'name="seen" value="([^"]*)"', html)
    assert found is not None, html
    return found[1]


@pytest.mark.also_old
async def test_existing_objects_are_updated_after_a_review_of_the_diff(desk: Desk) -> None:
    there, new = unique("there"), unique("new")
    where = desk.path("configmaps", there)
    desk.admin.post(desk.path("configmaps"), config_map(there, a="1", b="2")).ok()
    text = f"{text_for(config_map(there, a='3'))}---\n{text_for(config_map(new))}"
    status, html = await desk.page("review", text)
    assert status == 200 and "Will be updated" in html and "Can be created" in html
    shown = unescape(html)
    assert '<del>  a: "1"</del>' in shown and '<ins>  a: "3"</ins>' in shown
    assert desk.admin.get(where).ok()["data"] == {"a": "1", "b": "2"}
    status, html = await desk.page("create", text, seen=seen_in(html))
    assert status == 200 and "Updated: 1" in html and "Created: 1" in html
    now = desk.admin.get(where).ok()
    assert now["data"] == {"a": "3", "b": "2"}
    managers = {(one["manager"], one["operation"]) for one in now["metadata"]["managedFields"]}
    assert ("quarterdeck", "Apply") in managers
    record = await AuditRecord.objects.aget(name=there)
    assert (record.verb, record.actor, record.code) == ("patch", desk.who, 200)
    # The update can be undone on the page of the object.
    change = await ObjectChange.objects.aget(name=there)
    assert f"/configmaps/{there}/edit?undo={change.pk}" in html
    status, [told, _other] = await desk.send("create", text)
    assert (status, told["details"]["change"]) == (200, "keep")
    assert (
        desk.admin.get(where).ok()["metadata"]["resourceVersion"]
        == (now["metadata"]["resourceVersion"])
    )


async def test_an_import_that_would_differ_from_its_review_is_shown_again(desk: Desk) -> None:
    name = unique("there")
    where = desk.path("configmaps", name)
    text = text_for(config_map(name, a="3"))
    _status, html = await desk.page("review", text)
    desk.admin.post(desk.path("configmaps"), config_map(name, a="1")).ok()
    status, html = await desk.page("create", text, seen=seen_in(html))
    assert status == 409 and "differ from the changes that you reviewed" in html
    assert desk.admin.get(where).ok()["data"] == {"a": "1"}
    status, html = await desk.page("create", text, seen=seen_in(html))
    assert status == 200 and desk.admin.get(where).ok()["data"] == {"a": "3"}


async def test_updating_requires_permission_to_patch(
    monkeypatch: pytest.MonkeyPatch, desk: Desk, cleanup: Cleanup
) -> None:
    name = unique("there")
    desk.admin.post(desk.path("configmaps"), config_map(name, a="1")).ok()
    where = {desk.namespace}
    eve = FakeAccess(unique("eve"), list_in=where, get_in=where, delete_in=())
    join(eve, Grants(cleanup, desk.namespace).team(rule("get", "configmaps"), here=True))
    shown = desk_of(monkeypatch, desk.admin, desk.namespace, eve)
    status, [told] = await shown.send("create", config_map(name, a="2"))
    assert (status, told["code"], told["details"]["change"]) == (207, 403, "update"), told
    assert "You don't have permission" in told["message"]
    assert desk.admin.get(desk.path("configmaps", name)).ok()["data"] == {"a": "1"}


async def test_hidden_values_of_an_existing_secret_are_kept(desk: Desk) -> None:
    name = unique("login")
    desk.admin.post(desk.path("secrets"), secret(name, user="editor", password="hunter2")).ok()
    text = text_for(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name},
            "data": {"user": MASK, "password": "bmV3"},
        }
    )
    status, html = await desk.page("review", text)
    assert status == 200 and "aHVudGVyMg" not in html and f"{MASK} (new value)" in html
    status, items = await desk.send("create", text)
    assert status == 200, items
    found = desk.admin.get(desk.path("secrets", name)).ok()["data"]
    assert found == {"user": "ZWRpdG9y", "password": "bmV3"}


@pytest.mark.newer_kubernetes
async def test_all_problems_of_a_text_are_reported_at_their_lines(desk: Desk) -> None:
    good = unique("good")
    texts = [
        text_for(config_map(good)),
        "a: ]\n",
        "kind: ConfigMap\nmetadata:\n  name: x\n",
        text_for(deployment(unique("web"), "example/web:1")).replace("replicas", "replicsa"),
        text_for(config_map(good)),
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec: {}\n",
    ]
    text = "---\n".join(texts)
    status, html = await desk.page("review", text)
    assert status == 400
    lines = text.split("\n")
    problems = re.findall(r'data-line="(\d+)".*?data-problem>(.*?)</span>', html, re.DOTALL)
    found = [(int(line), words) for line, words in problems]
    wanted = [
        (lines.index("a: ]") + 1, "Could not parse the YAML"),
        (lines.index("a: ]") + 3, "apiVersion is missing."),
        (lines.index("  replicsa: 0") + 1, "unknown field"),
        (max(n for n, line in enumerate(lines, 1) if good in line), "appears more than once"),
    ]
    assert [line for line, _words in found] == [line for line, _words in wanted], found
    for (_line, told), (_at, words) in zip(found, wanted, strict=True):
        assert words in told
    assert "Permission denied by the cluster." in html


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("replicas: 0", "replicsa: 0", "unknown field"),
        ("replicas: 0", "replicas: many", "expected integer, got string"),
        ("image: example/web:1", "imagee: example/web:1", "unknown field"),
    ],
)
async def test_fields_of_objects_in_a_new_project_are_checked_before_anything_is_written(
    boss: Desk, old: str, new: str, words: str
) -> None:
    name = unique("contract")
    inside = {**deployment("web", "example/web:1"), "metadata": {"name": "web", "namespace": name}}
    project: Obj = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    text = f"{text_for(project)}---\n{text_for(inside).replace(old, new)}"
    status, items = await boss.send("review", text)
    assert status == 422 and outcomes(items) == [("Namespace", "done"), ("Deployment", "refused")]
    [cause] = items[1]["details"]["causes"]
    line = next(n for n, one in enumerate(text.split("\n"), 1) if new in one)
    assert cause["field"] == str(line) and words in cause["message"], cause
    status, html = await boss.page("create", text, seen="old")
    assert status == 409
    assert boss.admin.get(f"{ALL_NAMESPACES}/{name}").status == 404


async def test_custom_resources_are_checked_with_the_schema_of_their_definition_in_the_text(
    boss: Desk,
) -> None:
    crd = definition()
    wrong = widget(crd, "small", size=10)
    wrong["spec"]["colour"] = "red"
    text = f"{text_for(wrong)}---\n{text_for(crd)}"
    status, items = await boss.send("review", text)
    assert status == 422
    told = [cause["message"] for cause in items[1]["details"]["causes"]]
    assert any("spec.colour: unknown field" in one for one in told), told
    assert any("spec.size" in one for one in told), told
    assert boss.admin.get(f"{CRDS}/{crd['metadata']['name']}").status == 404


async def test_dependents_are_checked_again_before_any_of_them_is_written(
    boss: Desk, cleanup: Cleanup
) -> None:
    """A name that only the cluster rejects."""
    name = unique("contract")
    cleanup.forget(f"{ALL_NAMESPACES}/{name}")
    project: Obj = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    good = {**config_map("good"), "metadata": {"name": "good", "namespace": name}}
    bad = {**config_map("bad"), "metadata": {"name": "bad", "namespace": name}, "data": {"a b": ""}}
    status, items = await boss.send("create", project, good, bad)
    assert status == 207
    assert [one["details"]["outcome"] for one in items] == ["done", "done", "refused"]
    records = [one.name async for one in AuditRecord.objects.order_by("pk")]
    assert records == [name, "good"]


async def test_json_is_accepted_as_kubectl_accepts_it(desk: Desk) -> None:
    one, two = unique("one"), unique("two")
    first = json.dumps(config_map(one, a="\U0001f6a2"), ensure_ascii=True)
    assert "\\ud83d\\udea2" in first
    second = json.dumps(config_map(two, a="\t"), indent="\t")
    status, items = await desk.send("create", f"\ufeff{first}\n{second}")
    assert status == 200, items
    assert desk.admin.get(desk.path("configmaps", one)).ok()["data"] == {"a": "\U0001f6a2"}
    assert desk.admin.get(desk.path("configmaps", two)).ok()["data"] == {"a": "\t"}
    wrong = json.dumps({**config_map(unique("x")), "data": {"a b": "1"}}, indent=2)
    text = f"{first}\n{wrong}".replace(one, unique("y"))
    status, [good, bad] = await desk.send("review", text)
    assert (status, good["code"], bad["code"]) == (422, 200, 422)
    line = next(n for n, one in enumerate(text.split("\n"), 1) if "a b" in one)
    assert bad["details"]["causes"][0]["field"] == str(line)


async def test_a_large_config_map_can_be_created(desk: Desk) -> None:
    name = unique("large")
    data = {"a": "line of text\n" * 40_000, "b": "x" * 500_000}
    status, items = await desk.send("create", config_map(name, **data))
    assert status == 200, items
    assert desk.admin.get(desk.path("configmaps", name)).ok()["data"] == data


async def test_hundreds_of_objects_are_created_with_progress(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is streamed, and lists the results that matter."""
    monkeypatch.setattr("console.views.progress_page.QUICK_SECONDS", 0.01)
    monkeypatch.setattr("console.views.progress_page.REPORT_SECONDS", 0.05)
    stem = unique("many")
    names = [f"{stem}-{number}" for number in range(300)]
    text = "---\n".join(text_for(config_map(name)) for name in names)
    status, html = await desk.page("review", text)
    assert status == 200 and "Can be created: 300" in html and 'class="progress-line"' in html
    assert " of 300 objects." in html and "100 more objects are not listed." in html
    status, html = await desk.page("create", text, seen=seen_in(html))
    assert status == 200 and "Created: 300" in html
    found = desk.admin.get(desk.path("configmaps")).ok()["items"]
    assert {one["metadata"]["name"] for one in found} >= {*names}


async def test_dependents_of_a_rejected_object_are_skipped(
    monkeypatch: pytest.MonkeyPatch, desk: Desk
) -> None:
    """The user cannot create the namespace."""
    name = unique("contract")
    documents: list[Obj] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
        {**config_map("it"), "metadata": {"name": "it", "namespace": name}},
        config_map(unique("here")),
    ]
    status, items = await desk.send("create", *documents)
    assert status == 207
    assert outcomes(items) == [
        ("Namespace", "refused"), ("ConfigMap", "untried"), ("ConfigMap", "done")
    ]  # fmt: skip
    assert (
        "You don't have permission to create" in items[0]["message"] and name in items[1]["message"]
    )
    assert desk.admin.get(f"{ALL_NAMESPACES}/{name}").status == 404


@pytest.mark.newer_kubernetes
async def test_validation_errors_of_the_cluster_are_reported_at_the_line(desk: Desk) -> None:
    web = text_for(deployment(unique("web"), "example/web:1"))
    for old, new, words in (
        ("replicas: 0", "replicsa: 0", "unknown field"),
        ("replicas: 0", "replicas: many", "replicas"),
        ("replicas: 0", "replicas: -1", "greater than or equal to 0"),
    ):
        text = f"{text_for(config_map(unique('c')))}---\n{web.replace(old, new)}"
        line = text.split("\n").index(f"  {new}") + 1
        status, html = await desk.page("review", text)
        assert status == 422 and f'data-line="{line}"' in html, html
        assert words in html and 'value="create"' not in html


async def test_a_permission_refused_by_the_cluster_is_explained(desk: Desk) -> None:
    """The console believes that the user has the permission; kube-apiserver refuses."""
    status, [told] = await desk.send(
        "create", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}}
    )
    assert (status, told["code"]) == (207, 403)
    assert "Permission denied by the cluster." in told["message"] and "pods" in told["message"]


async def test_a_generated_name_is_returned(desk: Desk) -> None:
    made: dict[str, Any] = {**config_map("x"), "metadata": {"generateName": "run-"}}
    status, [told] = await desk.send("create", made)
    assert status == 200
    name = told["details"]["name"]
    assert name.startswith("run-") and len(name) > len("run-")
    assert desk.admin.get(desk.path("configmaps", name)).status == 200
    record = await AuditRecord.objects.aget()
    assert record.name == "" and record.message == name


async def test_output_of_kubectl_get_can_be_created_again(desk: Desk, kubectl: Kubectl) -> None:
    """Fields that only the server sets are removed."""
    name = unique("copied")
    desk.admin.post(desk.path("configmaps"), config_map(name, a="1")).ok()
    text = kubectl("get", "configmap", name, "-o", "yaml").replace(
        f"name: {name}", f"name: {name}-2"
    )
    status, [told] = await desk.send("create", text)
    assert status == 200 and "metadata.uid" in told["message"], told
    assert desk.admin.get(desk.path("configmaps", f"{name}-2")).ok()["data"] == {"a": "1"}


async def test_items_of_lists_are_created(desk: Desk) -> None:
    names = [unique("in-list") for _ in range(3)]
    whole = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [config_map(names[0]), config_map(names[1])],
    }
    typed = {
        "apiVersion": "v1",
        "kind": "ConfigMapList",
        "items": [{"metadata": {"name": names[2]}}],
    }
    status, items = await desk.send("create", whole, typed)
    assert status == 200 and [one["details"]["name"] for one in items] == names
    for name in names:
        assert desk.admin.get(desk.path("configmaps", name)).status == 200


async def test_unknown_kinds_and_wrong_scopes_are_reported(boss: Desk) -> None:
    unknown = {"apiVersion": "none.example.com/v1", "kind": "Thing", "metadata": {"name": "t"}}
    wrong = {"apiVersion": "v1", "kind": "Deployment", "metadata": {"name": "t"}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "t", "namespace": "x"}}
    status, items = await boss.send("create", unknown, wrong, node, namespace="")
    assert status == 207 and {one["code"] for one in items} == {404, 422}
    assert "The cluster has no kind Thing in API version none.example.com/v1." in str(items)
    assert "This object cannot belong to a project" in str(items)
    status, [told] = await boss.send("review", config_map("x"), namespace="")
    assert status == 422 and "This object must belong to a project" in told["message"]
    status, [told] = await boss.send("review", config_map("x"), namespace=unique("none"))
    assert status == 422 and told["code"] == 404, told


async def test_example_manifests_are_accepted(boss: Desk) -> None:
    """Covers the kinds that every cluster has."""
    examples = [
        skeleton(kind, boss.namespace)
        for kind in kinds
        if kind.gvr.group in BUILT_IN_GROUPS and kind.example != ResourceKind.example
    ]
    assert len(examples) > 20
    status, items = await boss.send("review", *examples)
    assert status == 200, [one for one in items if one["details"]["outcome"] == "refused"]
    untried = [one["message"] for one in items if one["details"]["outcome"] == "untried"]
    assert all("which is created first" in text for text in untried)
    for example in examples:
        status, [told] = await boss.send("review", example)
        assert (status, told["details"]["outcome"]) == (200, "done"), told


def made_in(html: str) -> str:
    found = re.search(r'name="made" value="([^"]*)"', html)
    assert found is not None, html
    return unescape(found[1])


async def undone(desk: Desk, made: list[Obj]) -> tuple[int, list[Obj]]:
    response = await ClientAs()(desk.who, Accept="application/json").post(
        URL, {"step": "undo", "made": json.dumps(made)}
    )
    return response.status_code, json.loads(response.content)["items"]


def made_of(items: list[Obj]) -> list[Obj]:
    """Return the created objects in the form that an API client sends back to undo them."""
    fields = ("apiVersion", "kind", "namespace", "name", "uid")
    told = [one["details"] for one in items if one["details"]["outcome"] == "done"]
    return [{field: one[field] for field in fields} for one in told]


@pytest.mark.also_old
async def test_undo_deletes_created_objects(desk: Desk) -> None:
    """After a review, in reverse order, with an audit record each. Objects that existed before are
    kept.
    """
    taken, one, two = unique("taken"), unique("one"), unique("two")
    desk.admin.post(desk.path("configmaps"), config_map(taken, a="kept")).ok()
    documents = [secret(one, a="b"), config_map(taken, b="1"), config_map(two)]
    status, html = await desk.page("create", "---\n".join(map(text_for, documents)))
    assert status == 200
    made = made_in(html)
    status, html = await desk.page("review-undo", "left: alone", made=made)
    assert status == 200 and '<h1 id="import-title">Undo import</h1>' in html
    assert "Will be deleted: 2" in html and taken not in html and made_in(html) == made
    assert desk.admin.get(desk.path("configmaps", two)).status == 200
    status, html = await desk.page("undo", "left: alone", made=made)
    assert status == 200 and "Deleted: 2" in html and "left: alone" in html
    assert html.index(two) < html.index(one) and taken not in html
    assert desk.admin.get(desk.path("configmaps", two)).status == 404
    assert desk.admin.get(desk.path("secrets", one)).status == 404
    assert desk.admin.get(desk.path("configmaps", taken)).ok()["data"] == {"a": "kept", "b": "1"}
    records = [r async for r in AuditRecord.objects.filter(verb="delete").order_by("pk")]
    assert [(r.name, r.actor) for r in records] == [(two, desk.who), (one, desk.who)]


async def test_undo_keeps_a_recreated_object_of_the_same_name(desk: Desk) -> None:
    name = unique("taken")
    status, items = await desk.send("create", config_map(name), config_map(unique("other")))
    assert status == 200
    made = made_of(items)
    desk.admin.delete(desk.path("configmaps", name)).ok()
    desk.admin.post(desk.path("configmaps"), config_map(name, a="theirs")).ok()
    status, [_other, told] = await undone(desk, made)
    assert (status, told["code"]) == (207, 409)
    assert "replaced by another object with the same name" in told["message"]
    assert desk.admin.get(desk.path("configmaps", name)).ok()["data"] == {"a": "theirs"}
    # A second attempt reports the object as already deleted.
    status, [told, _taken] = await undone(desk, made)
    assert "The object no longer exists" in told["message"] and told["status"] == "Success"


async def test_undo_of_a_project_and_a_definition_deletes_their_contents(
    boss: Desk, cleanup: Cleanup
) -> None:
    crd, name = definition(), unique("contract")
    cleanup.forget(f"{CRDS}/{crd['metadata']['name']}")
    cleanup.forget(f"{ALL_NAMESPACES}/{name}")
    project: Obj = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    inside = {**widget(crd, "small", size=2)}
    inside["metadata"] = {**inside["metadata"], "namespace": name}
    wrong = {"apiVersion": "none.example.com/v1", "kind": "T", "metadata": {"name": "t"}}
    _status, html = await boss.page(
        "create", "---\n".join(map(text_for, [inside, crd, project, wrong]))
    )
    assert "Not created: 1" in html
    made = made_in(html)
    _status, html = await boss.page("review-undo", "", made=made)
    assert f"Deleting project {name} also deletes everything in the project" in html
    assert (
        f"Deleting definition {crd['metadata']['name']} also deletes all objects of its kind."
        in html
    )
    status, items = await undone(boss, json.loads(made))
    assert status == 200, items
    assert outcomes(items) == [
        ("Widget", "done"), ("CustomResourceDefinition", "done"), ("Namespace", "done")
    ]  # fmt: skip


async def test_undo_keeps_objects_the_user_cannot_delete(
    monkeypatch: pytest.MonkeyPatch, desk: Desk, boss: Desk
) -> None:
    name = unique("kept")
    _status, items = await boss.send("create", config_map(name))
    eve = desk_of(monkeypatch, desk.admin, desk.namespace, FakeAccess("eve", delete_in=()))
    status, [told] = await undone(eve, made_of(items))
    assert (status, told["code"]) == (
        207,
        403,
    ) and "You don't have permission to delete ConfigMaps" in told["message"]
    made = [{**made_of(items)[0], "namespace": ""}]
    status, [told] = await undone(boss, made)
    assert (status, told["code"]) == (207, 422)
    assert boss.admin.get(boss.path("configmaps", name)).status == 200


async def test_nothing_is_created_or_undone_without_an_audit_record(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, other = config_map(unique("there")), config_map(unique("other"))
    _code, made = await desk.send("create", there)
    monkeypatch.setattr(trail, "insert", no_database)
    code, [refused] = await desk.send("create", other)
    assert code == 503 and "the audit trail cannot be written" in refused["message"]
    assert desk.admin.get(desk.path("configmaps", other["metadata"]["name"])).status == 404
    code, [refused] = await desk.send("undo", made=json.dumps(made_of(made)))
    assert code == 503 and "the audit trail cannot be written" in refused["message"]
    assert desk.admin.get(desk.path("configmaps", there["metadata"]["name"])).status == 200
