"""Editing the volumes of a workload's pods and their mounts."""

import pytest

from console.kube import gvr as types
from console.kube.gvr import GVR, Key
from console.kube.runtime import Runtime
from tests.contract.client import Client, Obj
from tests.contract.objects import config_map, path
from tests.contract.pages import Person, known, recorded
from tests.contract.templateforms import (
    WORKLOADS,
    form_of,
    make,
    now,
    olga,
    pods_of,
    runtime,
    says_what_is_wrong,
    what_the_cluster_finds,
)
from tests.views.conftest import _site

__all__ = ["_site", "olga", "runtime"]

pytestmark = pytest.mark.django_db(transaction=True)

ITEMS = [{"key": "nginx.conf", "path": "nginx.conf"}]
VOLUMES = [
    {"name": "config", "configMap": {"name": "look", "items": ITEMS, "optional": True}},
    {"name": "tls", "secret": {"secretName": "tls", "defaultMode": 256}},
    {"name": "cache", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
    {"name": "host", "hostPath": {"path": "/var/log", "type": "Directory"}},
    {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
]
MOUNTS = [
    {"name": "config", "mountPath": "/etc/app", "readOnly": True},
    {"name": "tls", "mountPath": "/etc/tls", "readOnly": True, "mountPropagation": "None"},
    {"name": "data", "mountPath": "/data", "subPath": "web"},
]
PODS = {
    "volumes": VOLUMES,
    "containers": [
        {"name": "app", "image": "example/a:1", "volumeMounts": MOUNTS},
        {"name": "log", "image": "example/b:1"},
    ],
    "initContainers": [
        {"name": "init", "image": "example/c:1", "volumeMounts": [MOUNTS[2]]},
    ],
}


def without_volumes(pods: Obj) -> Obj:
    groups = {
        group: [{**one, "volumeMounts": []} for one in pods[group]]
        for group in ("containers", "initContainers")
    }
    return {**pods, **groups, "volumes": []}


@pytest.mark.parametrize("gvr", [*WORKLOADS], ids=lambda gvr: str(gvr.resource))
async def test_volumes_and_mounts_are_changed_without_other_changes(
    admin: Client, runtime: Runtime, namespace: str, olga: Person, gvr: GVR
) -> None:
    made = make(admin, runtime, namespace, PODS, gvr)
    name, before = made["metadata"]["name"], pods_of(made)
    page, sent = await form_of(olga, "volumes", made, gvr)
    assert await page.is_offered(gvr.resource, Key(namespace, name))
    assert (sent["volumes-1-kind"], sent["volumes-1-object"]) == ("secret", "tls")
    assert (sent["volumes-2-medium"], sent["volumes-2-size"]) == ("Memory", "64Mi")
    assert sent["volumes-3-kind"] == "kept"
    assert sent["containers0-2-sub_path"] == "web"
    changed = {
        "volumes-0-object": "style",
        "volumes-1-remove": "on",
        "volumes-2-size": "",
        "volumes-4-kind": "emptyDir",
        "volumes-5-name": "keys",
        "volumes-5-kind": "secret",
        "volumes-5-object": "keys",
        "containers0-0-mode": "",
        "containers0-1-remove": "on",
        "containers0-2-sub_path": "",
        "containers0-2-mode": "readOnly",
        "containers1-0-volume": "keys",
        "containers1-0-path": "/etc/keys",
        "containers1-0-sub_path": "a/b",
        "containers1-0-mode": "readOnly",
    }
    await page.does(**{**sent, **changed})
    pods = pods_of(now(admin, made, gvr))
    was = before["volumes"]
    config = {**was[0]["configMap"], "name": "style"}
    assert pods["volumes"][:4] == [
        {"name": "config", "configMap": config},
        {"name": "cache", "emptyDir": {"medium": "Memory"}},
        was[3],
        {"name": "data", "emptyDir": {}},
    ]
    keys = pods["volumes"][4]
    assert (keys["name"], keys["secret"]["secretName"]) == ("keys", "keys")
    assert pods["containers"][0]["volumeMounts"] == [
        {"name": "config", "mountPath": "/etc/app"},
        {"name": "data", "mountPath": "/data", "readOnly": True},
    ]
    mount = {"name": "keys", "mountPath": "/etc/keys", "subPath": "a/b", "readOnly": True}
    assert pods["containers"][1]["volumeMounts"] == [mount]
    assert without_volumes(pods) == without_volumes(before)
    assert pods["initContainers"] == before["initContainers"]
    assert await recorded() == [(olga.name, "patch", "volumes", name, 200)]


async def test_names_of_objects_and_volumes_are_offered(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace, PODS)
    found = admin.post(path(namespace, "configmaps"), config_map("look-2", colour="red")).ok()
    known(runtime, types.CONFIG_MAPS, found)
    text = await olga.on("volumes", "deployments", made).asks()
    assert '<option value="look-2">' in text and '<option value="cache">' in text


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        ({}, "", "No changes were made."),
        ({"volumes-0-name": ""}, "volumes-0-name", "Enter a name."),
        ({"volumes-0-name": "tls"}, "volumes-0-name", "A volume with this name already exists."),
        ({"volumes-0-object": ""}, "volumes-0-object", "Enter a name."),
        ({"volumes-0-kind": "nfs"}, "volumes-0-kind", "This option is no longer available."),
        ({"volumes-0-kind": "kept"}, "volumes-0-kind", "This option is no longer available."),
        ({"volumes-0-size": "1Gi"}, "volumes-0-size", "does not use this field."),
        ({"volumes-3-object": "x"}, "volumes-3-object", "does not use this field."),
        ({"volumes-2-size": "much"}, "volumes-2-size", "“much” is not a valid quantity."),
        ({"volumes-2-medium": "Tape"}, "volumes-2-medium", "This option is no longer available."),
        ({"containers0-0-volume": ""}, "containers0-0-volume", "Enter a volume."),
        ({"containers0-0-path": ""}, "containers0-0-path", "Enter a path."),
        ({"containers1-0-volume": "data"}, "containers1-0-path", "Enter a path."),
        ({"containers0-0-mode": "x"}, "containers0-0-mode", "This option is no longer available."),
        ({"was": '{"volumes": ["a"]}'}, "", "The form is incomplete."),
        ({"was": '{"volumes": [{"name": ["a"]}]}'}, "", "The form is incomplete."),
        ({"was": '{"containers": [{"name": "a", "volumeMounts": 1}]}'}, "", "is incomplete."),
    ],
)  # fmt: skip
async def test_invalid_volume_values_are_reported_at_the_field(
    admin: Client,
    runtime: Runtime,
    namespace: str,
    olga: Person,
    typed: dict[str, str],
    field: str,
    said: str,
) -> None:
    made = make(admin, runtime, namespace, PODS)
    await says_what_is_wrong(admin, olga, "volumes", made, typed, field, said)


async def test_validation_errors_of_the_cluster_are_reported_at_the_row(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    """A removed volume that is still mounted, and a mount path that is used twice."""
    made = make(admin, runtime, namespace, PODS)
    typed = {"volumes-4-remove": "on", "containers0-1-path": "/etc/app"}
    said = await what_the_cluster_finds(admin, olga, "volumes", made, **typed)
    assert 'href="#form-containers0-2-volume">Volume: Not found: "data"' in said
    assert 'href="#form-initContainers0-0-volume">Volume: Not found: "data"' in said
    assert 'href="#form-containers0-1-path">Path: Invalid value: "/etc/app"' in said


async def test_a_volume_claim_template_can_be_mounted(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    claim = {
        "metadata": {"name": "store"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    gvr = types.STATEFUL_SETS
    made = make(admin, runtime, namespace, PODS, gvr, volumeClaimTemplates=[claim])
    page, sent = await form_of(olga, "volumes", made, gvr)
    await page.does(**{**sent, "containers1-0-volume": "store", "containers1-0-path": "/s"})
    mounts = pods_of(now(admin, made, gvr))["containers"][1]["volumeMounts"]
    assert mounts == [{"name": "store", "mountPath": "/s"}]
