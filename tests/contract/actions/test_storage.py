"""Actions on PersistentVolumeClaims, volume snapshots, and storage classes."""

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest

from console.actions.volume_copies import TakeSnapshot
from console.kube.gvr import (
    CUSTOM_RESOURCE_DEFINITIONS,
    GVR,
    PERSISTENT_VOLUME_CLAIMS,
    STORAGE_CLASSES,
    VOLUME_SNAPSHOT_CLASSES,
    VOLUME_SNAPSHOTS,
    Key,
)
from console.kube.projections.storage import ALLOW_CLONE, ALLOW_SNAPSHOT
from console.kube.runtime import Runtime
from console.ui.core.clusters import HOST
from rbac.process_clusters import create_cluster
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.grants import rule
from tests.contract.objects import NOBODY, path, unique
from tests.contract.pages import (
    Page,
    Person,
    console_on,
    join,
    known,
    person,
    recorded,
    refused_to_strangers,
)
from tests.controlplane.waiting import eventually
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess
from tests.views.conftest import _site
from tests.views.viewers import VIEWERS

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
CLASS_PATH = "/apis/storage.k8s.io/v1/storageclasses"
DEFAULT = "storageclass.kubernetes.io/is-default-class"
BETA = "storageclass.beta.kubernetes.io/is-default-class"
GROUP, SNAPSHOTS = "storage.k8s.io", VOLUME_SNAPSHOTS.group


FOLLOWED = (
    STORAGE_CLASSES,
    PERSISTENT_VOLUME_CLAIMS,
    VOLUME_SNAPSHOTS,
    VOLUME_SNAPSHOT_CLASSES,
)


@pytest.fixture(scope="module")
def runtime(cluster: Cluster, _snapshots: None) -> Iterator[Runtime]:
    with console_on(cluster, [CUSTOM_RESOURCE_DEFINITIONS, *FOLLOWED]) as found:
        yield found


@pytest.fixture(autouse=True)
def _no_default(runtime: Runtime) -> None:
    """Wait until the default classes of the previous test are deleted."""
    store = runtime.informer(STORAGE_CLASSES).store
    eventually(
        lambda: not any(one.projection.default for one in store.snapshot().entries.values()),
        "no class is the default",
    )


def make_class(cleanup: Cleanup, runtime: Runtime, **more: Any) -> Obj:
    notes = more.pop("annotations", {})
    about = {"name": unique("class"), "annotations": notes}
    made = cleanup.create(CLASS_PATH, {"metadata": about, "provisioner": NOBODY} | more)
    known(runtime, STORAGE_CLASSES, made)
    return made


def read_class(admin: Client, made: Obj) -> Obj:
    found: Obj = admin.get(f"{CLASS_PATH}/{made['metadata']['name']}").ok()
    return found


def notes_of(admin: Client, made: Obj) -> dict[str, str]:
    found: dict[str, str] = read_class(admin, made)["metadata"].get("annotations", {})
    return found


def claim_of(name: str, *, size: str = "1Gi", **spec: Any) -> Obj:
    resources = {"requests": {"storage": size}}
    given = {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}
    return {"metadata": {"name": name}, "spec": given}


def make_claim(admin: Client, runtime: Runtime, namespace: str, **spec: Any) -> Obj:
    where = path(namespace, "persistentvolumeclaims")
    made: Obj = admin.post(where, claim_of(unique("claim"), **spec)).ok()
    known(runtime, PERSISTENT_VOLUME_CLAIMS, made)
    return made


def make_bound_claim(cleanup: Cleanup, runtime: Runtime, namespace: str, storage_class: str) -> Obj:
    """Create a claim and the volume that it is bound to. No controller expands the volume."""
    volume = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "hostPath": {"path": "/nowhere"},
    }
    name = unique("volume")
    cleanup.create("/api/v1/persistentvolumes", {"metadata": {"name": name}, "spec": volume})
    spec = {"storageClassName": storage_class, "volumeName": name}
    made = make_claim(cleanup.admin, runtime, namespace, **spec)
    bound = eventually(
        lambda: (now := read_claim(cleanup.admin, made))["status"]["phase"] == "Bound" and now,
        "the claim is bound",
    )
    assert bound
    known(runtime, PERSISTENT_VOLUME_CLAIMS, bound)
    return bound


def make_snapshot_class(cleanup: Cleanup, runtime: Runtime, driver: str, default: str = "") -> str:
    notes = {"snapshot.storage.kubernetes.io/is-default-class": default} if default else {}
    about = {"name": unique("snapshots"), "annotations": notes}
    body = {
        "apiVersion": VOLUME_SNAPSHOT_CLASSES.group_version,
        "kind": "VolumeSnapshotClass",
        "metadata": about,
        "driver": driver,
        "deletionPolicy": "Delete",
    }
    made = cleanup.create(VOLUME_SNAPSHOT_CLASSES.path(""), body)
    known(runtime, VOLUME_SNAPSHOT_CLASSES, made)
    return str(about["name"])


def filled_in(page: str, field: str) -> str:
    found = re.search(rf'name="{field}" value="([^"]*)"', page)
    assert found is not None, page
    return found[1]


def read_claim(admin: Client, made: Obj) -> Obj:
    meta = made["metadata"]
    where = path(meta["namespace"], "persistentvolumeclaims", meta["name"])
    found: Obj = admin.get(where).ok()
    return found


def size_of(claim: Obj) -> str:
    return str(claim["spec"]["resources"]["requests"]["storage"])


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str) -> Person:
    return person(
        monkeypatch,
        cleanup,
        namespace,
        rule("get list create patch", "persistentvolumeclaims"),
        rule("get list create", "volumesnapshots volumesnapshotclasses", SNAPSHOTS),
        rule("get list patch", "storageclasses", GROUP),
    )


class _WithoutClasses(FakeAccess):
    """A user with all permissions except viewing storage classes."""

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        granted = super().namespaces_where(verb, gvr, subresource)
        return frozenset() if gvr == STORAGE_CLASSES else granted


def offered(page: str) -> str:
    """Return the value of the checkbox for the other default classes."""
    found = re.search(r'name="others" value="([^"]*)"[^>]* checked', page)
    assert found is not None, page
    return found[1]


@pytest.mark.newer_kubernetes
def test_most_fields_of_a_storage_class_are_immutable(admin: Client, cleanup: Cleanup) -> None:
    about = {"name": unique("class")}
    cleanup.create(CLASS_PATH, {"metadata": about, "provisioner": NOBODY})
    where = f"{CLASS_PATH}/{about['name']}"
    change = {
        "parameters": {"b": "1", "a": "2"},
        "provisioner": "example.com/other",
        "reclaimPolicy": "Retain",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    refused = admin.patch(where, change, MERGE_PATCH)
    assert (refused.status, refused.reason) == (422, "Invalid")
    causes = {one["field"]: one["message"] for one in refused.json["details"]["causes"]}
    assert causes == {
        "parameters": 'Invalid value: {"a":"2","b":"1"}: field is immutable',
        "provisioner": 'Invalid value: "example.com/other": field is immutable',
        "reclaimPolicy": 'Invalid value: "Retain": field is immutable',
        "volumeBindingMode": 'Invalid value: "WaitForFirstConsumer": field is immutable',
    }
    admin.patch(where, {"allowVolumeExpansion": True, "mountOptions": ["ro"]}, MERGE_PATCH).ok()


async def test_a_class_can_replace_the_default_classes(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person
) -> None:
    old = make_class(cleanup, runtime, annotations={DEFAULT: "true"})
    older = make_class(cleanup, runtime, annotations={BETA: "true"})
    new = make_class(cleanup, runtime)
    name, key = new["metadata"]["name"], Key("", new["metadata"]["name"])
    page = editor.on("set-default", "storageclasses", new)
    unset = editor.on("unset-default", "storageclasses", new)
    assert await page.is_offered("storageclasses", key)
    assert not await unset.is_offered("storageclasses", key)
    asked = await page.asks()
    for one in (old, older):
        assert one["metadata"]["name"] in asked and one["metadata"]["uid"] in offered(asked)
    assert f"kubectl annotate --overwrite storageclasses.storage.k8s.io {name}" in asked
    assert f"{DEFAULT}=false {BETA}-" in asked
    await page.does(others=offered(asked))
    assert notes_of(admin, new)[DEFAULT] == "true"
    assert notes_of(admin, old) == {DEFAULT: "false"} == notes_of(admin, older)
    names = sorted(one["metadata"]["name"] for one in (old, older))
    assert sorted(await recorded()) == sorted(
        [
            (editor.name, "patch", "set-default", name, 200),
            *((editor.name, "patch", "unset-default", one, 200) for one in names),
        ]
    )
    known(runtime, STORAGE_CLASSES, read_class(admin, new))
    assert await unset.is_offered("storageclasses", key)
    said = html.unescape(await page.refuses(409))
    assert "The current state of the object doesn't allow this action." in said
    assert f"{DEFAULT}=false {BETA}-" in await unset.asks()
    assert (await unset.status())["status"] == "Success"
    assert notes_of(admin, new) == {DEFAULT: "false"}


async def test_unselected_classes_stay_the_default(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person
) -> None:
    old = make_class(cleanup, runtime, annotations={DEFAULT: "true"})
    new = make_class(cleanup, runtime)
    await editor.on("set-default", "storageclasses", new).does()
    assert notes_of(admin, old)[DEFAULT] == "true" == notes_of(admin, new)[DEFAULT]


async def test_a_default_class_that_was_not_shown_is_not_changed(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person
) -> None:
    old = make_class(cleanup, runtime, annotations={DEFAULT: "true"})
    new = make_class(cleanup, runtime)
    page = editor.on("set-default", "storageclasses", new)
    shown = offered(await page.asks())
    later = make_class(cleanup, runtime, annotations={DEFAULT: "true"})
    for typed in (shown, "on", "\x00"):
        text = await page.refuses(400, others=typed)
        assert "This option is no longer available. Choose another option." in text
        assert later["metadata"]["uid"] in offered(text)
    status = await page.status(others=shown)
    assert [cause["field"] for cause in status["details"]["causes"]] == ["others"]
    assert DEFAULT not in notes_of(admin, new)
    assert notes_of(admin, old)[DEFAULT] == "true" == notes_of(admin, later)[DEFAULT]


async def test_remaining_default_classes_are_reported(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    cleanup: Cleanup,
    runtime: Runtime,
    namespace: str,
) -> None:
    """The console grants more permissions than the cluster, as after a recent change."""
    old = make_class(cleanup, runtime, annotations={DEFAULT: "true"})
    new = make_class(cleanup, runtime)
    name = new["metadata"]["name"]
    mia = person(
        monkeypatch,
        cleanup,
        namespace,
        rule("patch", "storageclasses", GROUP, names=name),
        rule("get list", "storageclasses", GROUP),
    )
    page = mia.on("set-default", "storageclasses", new)
    said = (await page.status(others=offered(await page.asks())))["message"]
    assert (
        f"{name} is now the default storage class. {old['metadata']['name']} is still a default"
        in said
    )
    assert "Permission denied by the cluster." in said
    assert notes_of(admin, old)[DEFAULT] == "true" == notes_of(admin, new)[DEFAULT]
    assert await recorded() == [
        (mia.name, "patch", "set-default", name, 200),
        (mia.name, "patch", "unset-default", old["metadata"]["name"], 403),
    ]


async def test_a_recreated_class_of_the_same_name_is_not_changed(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person
) -> None:
    made = make_class(cleanup, runtime)
    page = editor.on("set-default", "storageclasses", made)
    said = await Page(page.who, page.url, "another").refuses(422)
    assert "replaced by another object with the same name" in said
    assert DEFAULT not in notes_of(admin, made)


async def test_users_without_permission_cannot_set_the_default_class(
    monkeypatch: pytest.MonkeyPatch,
    cleanup: Cleanup,
    namespace: str,
    runtime: Runtime,
) -> None:
    eve = person(monkeypatch, cleanup, namespace)
    made = make_class(cleanup, runtime)
    page = eve.on("set-default", "storageclasses", made)
    await refused_to_strangers(page, "storageclasses")
    assert "Permission denied by the cluster." in await page.refuses(403)


async def test_a_claim_is_expanded(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person, namespace: str
) -> None:
    growing = make_class(cleanup, runtime, allowVolumeExpansion=True)
    claim = make_bound_claim(cleanup, runtime, namespace, growing["metadata"]["name"])
    name = claim["metadata"]["name"]
    page = editor.on("expand", "persistentvolumeclaims", claim)
    assert await page.is_offered("persistentvolumeclaims", Key(namespace, name))
    asked = await page.asks()
    assert (
        "a volume cannot be made smaller" in asked
        and "kubectl patch persistentvolumeclaims" in asked
    )
    assert 'name="size" value="1Gi"' in asked
    answer = await page.does(size="2Gi")
    assert answer["Location"].endswith(f"/persistentvolumeclaims/{name}")
    assert size_of(read_claim(admin, claim)) == "2Gi"
    assert await recorded() == [(editor.name, "patch", "expand", name, 200)]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "This field is required."),
        ("many", "is not a valid size"),
        ("5 Gi", "is not a valid size"),
        ("-2Gi", "is not a valid size"),
        ("0", "is not a valid size"),
        ("2\u202eGi", "is not a valid size"),
        ("\x00", "This field is required."),
        ("9" * 60, "Use at most"),
        ("1Gi", "Use more than 1Gi."),
        ("1024Mi", "Use more than 1Gi."),
        ("1G", "Use more than 1Gi."),
    ],
)
async def test_invalid_sizes_are_reported_at_the_field(
    admin: Client,
    cleanup: Cleanup,
    runtime: Runtime,
    editor: Person,
    namespace: str,
    typed: str,
    said: str,
) -> None:
    growing = make_class(cleanup, runtime, allowVolumeExpansion=True)
    claim = make_bound_claim(cleanup, runtime, namespace, growing["metadata"]["name"])
    page = editor.on("expand", "persistentvolumeclaims", claim)
    text = await page.refuses(400, size=typed)
    assert said in text and 'href="#form-size"' in text
    status = await page.status(size=typed)
    assert [cause["field"] for cause in status["details"]["causes"]] == ["size"]
    assert size_of(read_claim(admin, claim)) == "1Gi"


async def test_expansion_is_refused_before_the_form_if_the_class_forbids_it(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person, namespace: str
) -> None:
    fixed = make_class(cleanup, runtime)["metadata"]["name"]
    claim = make_bound_claim(cleanup, runtime, namespace, fixed)
    page = editor.on("expand", "persistentvolumeclaims", claim)
    said = f"Storage class {fixed} does not allow volume expansion."
    assert said in await page.refuses(409, size="2Gi")
    assert (await page.status(size="2Gi"))["code"] == 409
    lost = make_bound_claim(cleanup, runtime, namespace, unique("lost"))
    page = editor.on("expand", "persistentvolumeclaims", lost)
    assert "does not exist" in await page.refuses(409, size="2Gi")
    static = make_bound_claim(cleanup, runtime, namespace, "")
    growing = make_class(cleanup, runtime, allowVolumeExpansion=True)["metadata"]["name"]
    waiting = make_claim(admin, runtime, namespace, storageClassName=growing)
    for one in (static, waiting):
        page = editor.on("expand", "persistentvolumeclaims", one)
        key = Key(namespace, one["metadata"]["name"])
        assert not await page.is_offered("persistentvolumeclaims", key)
        said = html.unescape(await page.refuses(409, size="2Gi"))
        assert "The current state of the object doesn't allow this action." in said
    for one in (claim, lost, static, waiting):
        assert size_of(read_claim(admin, one)) == "1Gi"


async def test_an_expansion_refused_by_the_cluster_is_reported(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    cleanup: Cleanup,
    runtime: Runtime,
    namespace: str,
) -> None:
    """A user who cannot see storage classes gets the error from the cluster."""
    fixed = make_class(cleanup, runtime)["metadata"]["name"]
    claim = make_bound_claim(cleanup, runtime, namespace, fixed)
    rights = rule("get patch", "persistentvolumeclaims")
    eve = person(monkeypatch, cleanup, namespace, rights)
    looks = _WithoutClasses(eve.name, get_in=None)
    join(looks, eve.grants.team(rights))
    monkeypatch.setitem(VIEWERS, eve.name, lambda: looks)
    page = eve.on("expand", "persistentvolumeclaims", claim)
    said = await page.refuses(403, size="2Gi")
    assert "only dynamically provisioned pvc can be resized" in said
    assert 'value="2Gi"' in said
    assert size_of(read_claim(admin, claim)) == "1Gi"


@pytest.mark.newer_kubernetes
def test_most_fields_of_a_claim_are_immutable(
    admin: Client, cleanup: Cleanup, runtime: Runtime, namespace: str
) -> None:
    growing = make_class(cleanup, runtime, allowVolumeExpansion=True)["metadata"]["name"]
    bound = make_bound_claim(cleanup, runtime, namespace, growing)
    waiting = make_claim(admin, runtime, namespace, storageClassName=growing)

    def refused(claim: Obj, **spec: Any) -> list[str]:
        where = path(namespace, "persistentvolumeclaims", claim["metadata"]["name"])
        answer = admin.patch(where, {"spec": spec}, MERGE_PATCH)
        assert (answer.status, answer.reason) == (422, "Invalid")
        causes = answer.json["details"]["causes"]
        return [f"{one['field']}: {one['message']}".partition("\n")[0] for one in causes]

    fixed = (
        "spec: Forbidden: spec is immutable after creation except resources.requests and "
        "volumeAttributesClassName for bound claims"
    )
    assert refused(bound, accessModes=["ReadOnlyMany"]) == [fixed]
    assert refused(bound, storageClassName="other") == [fixed]
    assert refused(waiting, resources={"requests": {"storage": "2Gi"}}) == [fixed]
    smaller = (
        "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"
    )
    assert refused(bound, resources={"requests": {"storage": "1Mi"}}) == [smaller]


def test_a_claim_requires_a_size_and_access_modes(admin: Client, namespace: str) -> None:
    where = path(namespace, "persistentvolumeclaims")
    answer = admin.post(where, {"metadata": {"name": unique("claim")}, "spec": {}})
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert [(one["field"], one["message"]) for one in answer.json["details"]["causes"]] == [
        ("spec.accessModes", "Required value: at least 1 access mode is required"),
        ("spec.resources[storage]", "Required value"),
    ]
    answer = admin.post(where, claim_of(unique("claim"), size="0"))
    assert [one["message"] for one in answer.json["details"]["causes"]] == [
        'Invalid value: "0": must be greater than zero'
    ]


async def test_a_snapshot_is_taken_once(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person, namespace: str
) -> None:
    storage_class = make_class(cleanup, runtime)["metadata"]["name"]
    claim = make_bound_claim(cleanup, runtime, namespace, storage_class)
    mine = make_snapshot_class(cleanup, runtime, NOBODY)
    other = make_snapshot_class(cleanup, runtime, "example.com/other")
    page, name = editor.on("snapshot", "persistentvolumeclaims", claim), claim["metadata"]["name"]
    assert await page.is_offered("persistentvolumeclaims", Key(namespace, name))
    asked = await page.asks()
    assert mine in asked and other not in asked and "Default class" not in asked
    assert "kubectl create -f - -n" in asked
    wanted = filled_in(asked, "name")
    answer = await page.does(name=wanted, snapshot_class=mine)
    assert answer["Location"].endswith(f"/volumesnapshots.{SNAPSHOTS}/{wanted}")
    made = admin.get(VOLUME_SNAPSHOTS.path(namespace, wanted)).ok()
    assert made["spec"] == {
        "volumeSnapshotClassName": mine,
        "source": {"persistentVolumeClaimName": name},
    }
    again = await page.refuses(409, name=wanted, snapshot_class=mine)
    assert "An object with this name already exists." in again
    assert await recorded() == [
        (editor.name, "create", "snapshot", name, 200),
        (editor.name, "create", "snapshot", name, 409),
    ]
    for typed in (other, "", "\x00"):
        text = await page.refuses(400, name=unique("x"), snapshot_class=typed)
        assert "This option is no longer available. Choose another option." in text
    default = make_snapshot_class(cleanup, runtime, NOBODY, default="true")
    assert "Default class" in await page.asks() and default in await page.asks()
    await page.does(name=wanted + "-2", snapshot_class="")
    made = admin.get(VOLUME_SNAPSHOTS.path(namespace, wanted + "-2")).ok()
    assert "volumeSnapshotClassName" not in made["spec"]


async def test_a_driver_without_snapshot_class_is_reported(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person, namespace: str
) -> None:
    storage_class = make_class(cleanup, runtime, provisioner="example.com/alone")["metadata"][
        "name"
    ]
    claim = make_bound_claim(cleanup, runtime, namespace, storage_class)
    asked = await editor.on("snapshot", "persistentvolumeclaims", claim).asks()
    assert (
        "No volume snapshot class found for the driver of this volume (example.com/alone)."
    ) in asked


def test_snapshots_are_unavailable_if_the_cluster_does_not_support_them() -> None:
    assert TakeSnapshot().is_protected(
        FakeAccess(cluster=create_cluster(HOST, StaticRuntime({}))), "data"
    )


async def test_a_claim_is_cloned(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person, namespace: str
) -> None:
    storage_class = make_class(cleanup, runtime)["metadata"]["name"]
    claim = make_bound_claim(cleanup, runtime, namespace, storage_class)
    page, name = editor.on("clone", "persistentvolumeclaims", claim), claim["metadata"]["name"]
    asked = await page.asks()
    wanted = filled_in(asked, "name")
    assert filled_in(asked, "size") == "1Gi" and "kubectl create -f - -n" in asked
    assert "Use at least 1Gi." in await page.refuses(400, name=wanted, size="1Mi")
    answer = await page.does(name=wanted, size="2Gi")
    assert answer["Location"].endswith(f"/persistentvolumeclaims/{wanted}")
    made = admin.get(path(namespace, "persistentvolumeclaims", wanted)).ok()
    source = {"apiGroup": None, "kind": "PersistentVolumeClaim", "name": name}
    assert made["spec"] == {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "volumeMode": "Filesystem",
        "resources": {"requests": {"storage": "2Gi"}},
        "dataSource": source,
        "dataSourceRef": source,
    }
    assert await recorded() == [(editor.name, "create", "clone", name, 200)]
    text = await page.refuses(422, name="No Name", size="2Gi")
    assert 'href="#form-name"' in text


async def test_users_without_permission_cannot_clone_or_snapshot(
    monkeypatch: pytest.MonkeyPatch,
    cleanup: Cleanup,
    runtime: Runtime,
    namespace: str,
) -> None:
    claim = make_bound_claim(
        cleanup, runtime, namespace, make_class(cleanup, runtime)["metadata"]["name"]
    )
    eve = person(monkeypatch, cleanup, namespace, rule("get", "persistentvolumeclaims"))
    for action, data in (("snapshot", {"snapshot_class": ""}), ("clone", {"size": "1Gi"})):
        page = eve.on(action, "persistentvolumeclaims", claim)
        data["name"] = unique("copy")
        assert "Permission denied by the cluster." in await page.refuses(403, **data)
        for who in ("charlie", "bob"):
            assert (await Page(who, page.url, page.uid).status(**data))["code"] == 403


def make_snapshot(admin: Client, runtime: Runtime, namespace: str, **more: Any) -> Obj:
    body = {
        "apiVersion": VOLUME_SNAPSHOTS.group_version,
        "kind": "VolumeSnapshot",
        "metadata": {"name": unique("snapshot")},
        **more,
    }
    made = admin.post(VOLUME_SNAPSHOTS.path(namespace), body).ok()
    status = {"status": {"readyToUse": True, "restoreSize": "3Gi"}}
    where = VOLUME_SNAPSHOTS.path(namespace, made["metadata"]["name"])
    ready: Obj = admin.patch(f"{where}/status", status, MERGE_PATCH).ok()
    known(runtime, VOLUME_SNAPSHOTS, ready)
    return ready


async def test_a_volume_is_created_from_a_snapshot(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person, namespace: str
) -> None:
    storage_class = make_class(cleanup, runtime)["metadata"]["name"]
    other = make_class(cleanup, runtime, provisioner="example.com/other")["metadata"]["name"]
    claim = make_bound_claim(cleanup, runtime, namespace, storage_class)["metadata"]["name"]
    taken_by = make_snapshot_class(cleanup, runtime, NOBODY)
    source = {"source": {"persistentVolumeClaimName": claim}}
    spec = {"volumeSnapshotClassName": taken_by, **source}
    snapshot = make_snapshot(admin, runtime, namespace, spec=spec)
    segment, name = VOLUME_SNAPSHOTS.qualified, snapshot["metadata"]["name"]
    page = editor.on("volume", segment, snapshot)
    assert await page.is_offered(segment, Key(namespace, name))
    asked = await page.asks()
    wanted = filled_in(asked, "name")
    assert filled_in(asked, "size") == "3Gi" and "kubectl create -f - -n" in asked
    assert f'value="{storage_class}" selected' in asked and other not in asked
    chosen = {
        "name": wanted,
        "size": "3Gi",
        "storage_class": storage_class,
        "access_mode": "ReadWriteOnce",
        "volume_mode": "Filesystem",
    }
    assert "Use at least 3Gi." in await page.refuses(400, **{**chosen, "size": "2Gi"})
    for field, typed in (("storage_class", other), ("access_mode", ""), ("volume_mode", "Tape")):
        said = await page.refuses(400, **{**chosen, field: typed})
        assert "This option is no longer available. Choose another option." in said
    answer = await page.does(**chosen)
    assert answer["Location"].endswith(f"/persistentvolumeclaims/{wanted}")
    made = admin.get(path(namespace, "persistentvolumeclaims", wanted)).ok()["spec"]
    group = {"apiGroup": SNAPSHOTS, "kind": "VolumeSnapshot", "name": name}
    assert made["dataSource"] == group == made["dataSourceRef"]
    assert (made["storageClassName"], made["accessModes"]) == (storage_class, ["ReadWriteOnce"])
    assert await recorded() == [(editor.name, "create", "volume", name, 200)]


async def test_only_ready_snapshots_can_be_restored(
    admin: Client, runtime: Runtime, editor: Person, namespace: str
) -> None:
    snapshot = make_snapshot(admin, runtime, namespace, spec={"source": {}})
    segment, name = VOLUME_SNAPSHOTS.qualified, snapshot["metadata"]["name"]
    where = f"{VOLUME_SNAPSHOTS.path(namespace, name)}/status"
    known(
        runtime,
        VOLUME_SNAPSHOTS,
        admin.patch(where, {"status": {"readyToUse": False}}, MERGE_PATCH).ok(),
    )
    page = editor.on("volume", segment, snapshot)
    assert not await page.is_offered(segment, Key(namespace, name))
    chosen = {"access_mode": "ReadWriteOnce", "volume_mode": "Filesystem", "storage_class": ""}
    said = html.unescape(await page.refuses(409, name=unique("x"), size="3Gi", **chosen))
    assert "The current state of the object doesn't allow this action." in said


async def test_volume_expansion_of_a_class_can_be_allowed_and_forbidden(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person
) -> None:
    made = make_class(cleanup, runtime)
    key = Key("", made["metadata"]["name"])
    allow = editor.on("allow-expansion", "storageclasses", made)
    forbid = editor.on("forbid-expansion", "storageclasses", made)
    assert await allow.is_offered("storageclasses", key)
    assert not await forbid.is_offered("storageclasses", key)
    assert "kubectl patch storageclasses.storage.k8s.io" in await allow.asks()
    await allow.does()
    now = read_class(admin, made)
    assert now["allowVolumeExpansion"] is True
    known(runtime, STORAGE_CLASSES, now)
    said = html.unescape(await allow.refuses(409))
    assert "The current state of the object doesn't allow this action." in said
    assert (await forbid.status())["status"] == "Success"
    assert read_class(admin, made)["allowVolumeExpansion"] is False
    assert await recorded() == [
        (editor.name, "patch", "allow-expansion", key.name, 200),
        (editor.name, "patch", "forbid-expansion", key.name, 200),
    ]


async def test_a_class_can_restrict_operations_on_its_volumes(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person, namespace: str
) -> None:
    made = make_class(cleanup, runtime, annotations={"example.com/kept": "yes"})
    name = made["metadata"]["name"]
    claim = make_bound_claim(cleanup, runtime, namespace, name)
    make_snapshot_class(cleanup, runtime, NOBODY)
    page = editor.on("operations", "storageclasses", made)
    clone, snapshot = (editor.on(a, "persistentvolumeclaims", claim) for a in ("clone", "snapshot"))
    assert await page.is_offered("storageclasses", Key("", name))
    await page.asks()
    assert "No changes were made." in await page.refuses(400, clone="", snapshot="")
    for typed in ("yes", "TRUE", "\x00"):
        text = await page.refuses(400, clone=typed, snapshot="")
        assert "This option is no longer available. Choose another option." in text
    await page.does(clone="false", snapshot="")
    known(runtime, STORAGE_CLASSES, read_class(admin, made))
    text = await clone.refuses(409, name=unique("x"), size="1Gi")
    assert f"The storage class {name} does not allow clones of its volumes." in text
    assert (await clone.client().get(clone.url)).status_code == 409
    await snapshot.asks()
    await page.does(clone="true", snapshot="false")
    assert notes_of(admin, made) == {
        "example.com/kept": "yes",
        ALLOW_CLONE: "true",
        ALLOW_SNAPSHOT: "false",
    }
    known(runtime, STORAGE_CLASSES, read_class(admin, made))
    await clone.asks()
    text = await snapshot.refuses(409, name=unique("x"), snapshot_class="")
    assert f"The storage class {name} does not allow snapshots of its volumes." in text
    await page.does(clone="", snapshot="")
    assert notes_of(admin, made) == {"example.com/kept": "yes"}
    assert await recorded() == [(editor.name, "patch", "operations", name, 200)] * 3
