"""Saving changes of existing objects with forms: only the changed fields are applied, and fields that
no form shows are kept.
"""

from collections.abc import Iterator

import pytest

from console.audit.models import AuditRecord
from console.kube.gvr import (
    CUSTOM_RESOURCE_DEFINITIONS,
    HTTP_ROUTES,
    SERVICE_ACCOUNTS,
    STORAGE_CLASSES,
    Key,
)
from console.kube.runtime import Runtime
from console.ui.core.clusters import clusters
from console.ui.core.links import edit_form_url
from devcluster.sample.addons import definitions
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.crds import served
from tests.contract.grants import rule
from tests.contract.objects import unique
from tests.contract.pages import Person, console_on, known, kubectl_line, person
from tests.contract.wizard_pages import WizardVisitor
from tests.controlplane.waiting import eventually
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    types = [CUSTOM_RESOURCE_DEFINITIONS, STORAGE_CLASSES, SERVICE_ACCOUNTS]
    with console_on(cluster, types) as runtime:
        yield runtime


@pytest.fixture
def _installed(admin: Client) -> Iterator[None]:
    found = [one for one in definitions() if one["metadata"]["name"] == HTTP_ROUTES.qualified]
    for one in found:
        one["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    with served(admin, found):
        yield


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str) -> Person:
    return person(monkeypatch, cleanup, namespace, rule("create get list patch", "*", "*"))


def route() -> Obj:
    return {
        "apiVersion": HTTP_ROUTES.group_version,
        "kind": "HTTPRoute",
        "metadata": {"name": "shop", "annotations": {"example.com/a": "1"}},
        "spec": {
            "hostnames": ["shop.example.com"],
            "parentRefs": [{"name": "public", "sectionName": "https"}],
            "rules": [
                {
                    "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
                    "backendRefs": [{"name": "web", "port": 80}],
                    "retry": {"attempts": 3},
                }
            ],
        },
    }


@pytest.mark.usefixtures("_installed")
async def test_a_change_of_a_route_is_saved_and_other_fields_are_kept(
    runtime: Runtime, admin: Client, namespace: str, editor: Person
) -> None:
    eventually(lambda: clusters.host.kinds.installed(HTTP_ROUTES), "the console knows the type")
    where = HTTP_ROUTES.path(namespace)
    eventually(lambda: admin.post(where, route()).status in (201, 409), "the type is served")
    visitor = WizardVisitor(editor.name)
    await visitor.open(edit_form_url("host", HTTP_ROUTES.qualified, Key(namespace, "shop"), "form"))
    await visitor.press("act.rules.0.backendRefs.add", hostnames="a b")
    await visitor.press("next", rules__0__backendRefs__1__name="next")
    error = visitor.html.partition('id="w-hostnames-error"')[2]
    assert "/form" in visitor.url and error, visitor.main
    # Another user's change of another field is merged.
    admin.patch(f"{where}/shop", {"metadata": {"labels": {"team": "x"}}}, MERGE_PATCH).ok()
    await visitor.press(
        "next",
        hostnames="shop.example.com, www.example.com",
        rules__0__backendRefs__1__port="8080",
        rules__0__backendRefs__1__weight="2",
    )
    assert "Changes to save" in visitor.html, visitor.main
    assert kubectl_line(visitor.html).startswith("kubectl edit httproutes")
    await visitor.press("save")
    found = admin.get(f"{where}/shop").ok()
    expected = route()["spec"]
    expected["hostnames"].append("www.example.com")
    expected["rules"][0]["backendRefs"].append({"name": "next", "port": 8080, "weight": 2})
    assert found["spec"] == expected
    assert found["metadata"]["labels"] == {"team": "x"}
    record = await AuditRecord.objects.aget()
    assert (record.verb, record.name, record.code) == ("patch", "shop", 200)


async def test_a_change_of_a_storage_class_is_saved_and_other_fields_are_kept(
    runtime: Runtime, admin: Client, cleanup: Cleanup, editor: Person
) -> None:
    name = unique("fast")
    body = {
        "apiVersion": STORAGE_CLASSES.group_version,
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "disks.example.com",
        "parameters": {"type": "ssd"},
        "mountOptions": ["noatime"],
    }
    made = cleanup.create(STORAGE_CLASSES.path(), body)
    visitor = WizardVisitor(editor.name)
    await visitor.open(edit_form_url("host", STORAGE_CLASSES.resource, Key("", name), "form"))
    assert "provisioner" not in visitor.fields and visitor.status == 200, visitor.main
    await visitor.press("next", accessModes="ReadWriteOnce, Sometimes")
    assert "This is not an access mode." in visitor.html, visitor.main
    await visitor.press(
        "next",
        accessModes="ReadWriteOnce",
        allowVolumeExpansion="on",
        mountOptions="noatime, discard",
    )
    assert "Changes to save" in visitor.html, visitor.main
    await visitor.press("save")
    found = admin.get(f"{STORAGE_CLASSES.path()}/{name}").ok()
    assert found["metadata"]["annotations"] == {
        "storageclass.kubesphere.io/supported-access-modes": '["ReadWriteOnce"]'
    }
    changed = {**made, "allowVolumeExpansion": True, "mountOptions": ["noatime", "discard"]}
    assert {**found, "metadata": None} == {**changed, "metadata": None}
    # A field that can't be changed is refused by the cluster, and nothing is saved.
    await visitor.open(edit_form_url("host", STORAGE_CLASSES.resource, Key("", name), "yaml"))
    text = visitor.fields["manifest"].replace("disks.example.com", "other.example.com")
    await visitor.press("go.review", manifest=text)
    assert "provisioner" in visitor.html and "Changes to save" not in visitor.html, visitor.main
    assert admin.get(f"{STORAGE_CLASSES.path()}/{name}").ok() == found


async def test_a_new_registry_is_added_to_the_default_service_account(
    runtime: Runtime, admin: Client, cleanup: Cleanup, namespace: str, editor: Person
) -> None:
    account = f"{SERVICE_ACCOUNTS.path(namespace)}/default"
    body = {"metadata": {"name": "default"}}
    admin.post(SERVICE_ACCOUNTS.path(namespace), body)
    given = {"imagePullSecrets": [{"name": "mirror"}], "metadata": {"labels": {"a": "b"}}}
    before = admin.patch(account, given, MERGE_PATCH).ok()
    known(runtime, SERVICE_ACCOUNTS, before)
    name, visitor = unique("hub"), WizardVisitor(editor.name)
    await visitor.open(f"/clusters/host/new/secrets?namespace={namespace}")
    await visitor.press("act.kind.show", name=name, kind="registry")
    row = "kind__registry__auths__0"
    await visitor.press(
        "next",
        kind__registry__account="on",
        **{f"{row}__key": "registry.example.com", f"{row}__username": "bot"},
        **{f"{row}__password": "hunter2"},
    )
    assert "Create 1, change 1" in visitor.html, visitor.main
    # A pull secret that is added in the meantime is not removed: the change is reviewed again.
    other = {"imagePullSecrets": [{"name": "mirror"}, {"name": "theirs"}]}
    known(runtime, SERVICE_ACCOUNTS, admin.patch(account, other, MERGE_PATCH).ok())
    await visitor.press("create")
    assert visitor.status == 409, visitor.main
    assert [one["name"] for one in admin.get(account).ok()["imagePullSecrets"]][-1] == "theirs"
    await visitor.press("go.form")
    await visitor.press("next")
    await visitor.press("create")
    assert "Objects created" in visitor.html, visitor.main
    after = admin.get(account).ok()
    assert [one["name"] for one in after["imagePullSecrets"]] == ["mirror", "theirs", name]
    assert after["metadata"]["labels"] == {"a": "b"}
    made = f"/api/v1/namespaces/{namespace}/secrets/{name}"
    cleanup.forget(made)
    assert admin.get(made).ok()["type"] == "kubernetes.io/dockerconfigjson"
