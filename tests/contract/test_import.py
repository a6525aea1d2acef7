"""Creating objects from YAML: the review, the creation, and its order."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any

import pytest
import yaml

from console.audit import trail
from console.audit.models import AuditRecord
from console.kube.gvr import BUILT_IN_GROUPS, CONFIG_MAPS, DEPLOYMENTS, NAMESPACES
from console.kube.runtime import Runtime
from console.ui.core.kind import ResourceKind
from console.ui.core.registry import kinds
from console.ui.editing.creating import skeleton
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster, Kubectl
from tests.contract.crds import definition, widget
from tests.contract.grants import VERSION, Grants, rule
from tests.contract.objects import CRDS, config_map, deployment, path, secret, unique
from tests.contract.objects import NAMESPACES as ALL_NAMESPACES
from tests.contract.pages import join
from tests.contract.test_edit import no_database
from tests.contract.tidy import Scrap
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.ui.support import FakeAccess
from tests.views.cast import CAST
from tests.views.conftest import ClientAs, _site
from tests.views.test_lists import text_of

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

URL = "/clusters/host/import"


@pytest.fixture(scope="module")
def _runtime(cluster: Cluster) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    runtime.require([NAMESPACES, DEPLOYMENTS, CONFIG_MAPS])
    eventually(lambda: live(runtime.informer(DEPLOYMENTS)), "deployments are known")
    yield runtime
    runtime.stop()


@pytest.fixture(autouse=True)
def runtime(_runtime: Runtime) -> Iterator[Runtime]:
    set_host_cluster(_runtime)
    yield _runtime
    unset_host_cluster()


@dataclass(frozen=True)
class Desk:
    """A user who creates objects, and a project."""

    admin: Client
    namespace: str
    who: str

    async def page(self, step: str, text: str, **more: str) -> tuple[int, str]:
        data = {"text": text, "namespace": self.namespace, "step": step, **more}
        response = await ClientAs()(self.who).post(URL, data)
        return response.status_code, await text_of(response)

    async def send(self, step: str, *objects: Obj | str, **more: str) -> tuple[int, list[Obj]]:
        """Return the status code and the items of the response, one per object."""
        texts = [one if isinstance(one, str) else text_for(one) for one in objects]
        data = {
            "text": "---\n".join(texts), "namespace": self.namespace, "step": step, **more
        }  # fmt: skip
        response = await ClientAs()(self.who, Accept="application/json").post(URL, data)
        answer = json.loads(response.content)
        return response.status_code, answer.get("items", [answer])

    def path(self, plural: str, name: str = "", group: str = "") -> str:
        return path(self.namespace, plural, name, group=group)


def desk_of(
    monkeypatch: pytest.MonkeyPatch, admin: Client, namespace: str, shown: FakeAccess
) -> Desk:
    who = shown.identity.name
    monkeypatch.setitem(CAST, who, lambda: shown)
    return Desk(admin, namespace, who)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, admin: Client, namespace: str, scrap: Scrap) -> Desk:
    """A user with permission to create some kinds of objects in one project."""
    who, where = unique("olga"), {namespace}
    kinds = "configmaps secrets services serviceaccounts persistentvolumeclaims"
    rights = (
        rule("create delete get", kinds),
        rule("create delete get", "deployments", "apps"),
        rule("create delete get", "jobs cronjobs", "batch"),
        rule("create delete get", "ingresses", "networking.k8s.io"),
    )
    shown = FakeAccess(who, list_in=where, delete_in=where, get_in=where)
    join(shown, Grants(scrap, namespace).team(*rights, here=True))
    return desk_of(monkeypatch, admin, namespace, shown)


@pytest.fixture
def boss(monkeypatch: pytest.MonkeyPatch, admin: Client, namespace: str, scrap: Scrap) -> Desk:
    """A user with all permissions."""
    shown = FakeAccess(unique("boss"), get_in=None)
    join(shown, Grants(scrap, namespace).team(rule("*", "*", "*")))
    return desk_of(monkeypatch, admin, namespace, shown)


def text_for(obj: Obj) -> str:
    """Return YAML without the aliases that PyYAML writes for repeated values."""
    return yaml.safe_dump(json.loads(json.dumps(obj)))


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
        record = await AuditRecord.objects.select_related("outcome").aget(name=ours)
        assert (record.verb, record.namespace) == ("create", desk.namespace)
        assert (record.actor, record.outcome.code) == (desk.who, 200)


async def test_documents_are_created_in_dependency_order(boss: Desk, scrap: Scrap) -> None:
    """Objects are created after their dependencies, in a project that is created in the same
    import.
    """
    name, about = unique("contract"), {"name": "it"}
    scrap.forget(f"{ALL_NAMESPACES}/{name}")
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
    found = boss.admin.get(path(name, "ingresses", "it", group="networking.k8s.io/v1")).ok()
    assert found["metadata"]["uid"] == items[-1]["details"]["uid"]
    records = [one async for one in AuditRecord.objects.order_by("pk")]
    assert [one.resource for one in records][:2] == ["namespaces", "secrets"] and len(records) == 10


async def test_a_definition_and_its_objects_are_created_together(boss: Desk, scrap: Scrap) -> None:
    crd = definition()
    scrap.forget(f"{CRDS}/{crd['metadata']['name']}")
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
    documents = [config_map(first), config_map(taken, a="lost"), config_map(last)]
    status, items = await desk.send("review", *documents)
    assert status == 422 and [one["code"] for one in items] == [200, 409, 200]
    status, items = await desk.send("create", *documents)
    assert status == 207
    assert [one["details"]["outcome"] for one in items] == ["done", "refused", "done"]
    assert desk.admin.get(desk.path("configmaps", taken)).ok()["data"] == {"a": "kept"}
    assert desk.admin.get(desk.path("configmaps", last)).status == 200
    status, html = await desk.page("create", text_for(config_map(taken)))
    assert status == 207 and "This object already exists. Edit it instead." in html
    assert f'href="/clusters/host/projects/{desk.namespace}/configmaps/{taken}"' in html


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
    record = await AuditRecord.objects.select_related("outcome").aget()
    assert record.name == "" and record.outcome.message == name


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


async def test_undo_deletes_created_objects(desk: Desk) -> None:
    """In reverse order, with an audit record each. Objects that existed before are kept."""
    taken, one, two = unique("taken"), unique("one"), unique("two")
    desk.admin.post(desk.path("configmaps"), config_map(taken, a="kept")).ok()
    documents = [secret(one, a="b"), config_map(taken), config_map(two)]
    status, html = await desk.page("create", "---\n".join(map(text_for, documents)))
    assert status == 207 and "2 created objects will be deleted in reverse order" in html
    found = re.search(r'name="made" value="([^"]*)"', html)
    assert found is not None
    status, html = await desk.page("undo", "left: alone", made=unescape(found[1]))
    assert status == 200 and "2 of 2 deleted." in html and "left: alone" in html
    assert html.index(two) < html.index(one) and taken not in html
    assert desk.admin.get(desk.path("configmaps", two)).status == 404
    assert desk.admin.get(desk.path("secrets", one)).status == 404
    assert desk.admin.get(desk.path("configmaps", taken)).ok()["data"] == {"a": "kept"}
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
    boss: Desk, scrap: Scrap
) -> None:
    crd, name = definition(), unique("contract")
    scrap.forget(f"{CRDS}/{crd['metadata']['name']}")
    scrap.forget(f"{ALL_NAMESPACES}/{name}")
    project: Obj = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    inside = {**widget(crd, "small", size=2)}
    inside["metadata"] = {**inside["metadata"], "namespace": name}
    wrong = {"apiVersion": "none.example.com/v1", "kind": "T", "metadata": {"name": "t"}}
    status, html = await boss.page(
        "create", "---\n".join(map(text_for, [inside, crd, project, wrong]))
    )
    assert status == 207
    assert f"Deleting project {name} also deletes everything in the project" in html
    assert (
        f"Deleting definition {crd['metadata']['name']} also deletes all objects of its kind."
        in html
    )
    found = re.search(r'name="made" value="([^"]*)"', html)
    assert found is not None
    status, items = await undone(boss, json.loads(unescape(found[1])))
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
    monkeypatch.setattr(trail, "_insert", no_database)
    code, [refused] = await desk.send("create", other)
    assert code == 503 and "the audit trail cannot be written" in refused["message"]
    assert desk.admin.get(desk.path("configmaps", other["metadata"]["name"])).status == 404
    code, [refused] = await desk.send("undo", made=json.dumps(made_of(made)))
    assert code == 503 and "the audit trail cannot be written" in refused["message"]
    assert desk.admin.get(desk.path("configmaps", there["metadata"]["name"])).status == 200
