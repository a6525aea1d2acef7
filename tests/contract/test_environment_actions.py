"""Editing the environment variables of a workload's containers."""

import json

import pytest

from console.kube import gvr as types
from console.kube.gvr import GVR, Key
from console.kube.runtime import Runtime
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.objects import config_map, path
from tests.contract.pages import Person, known, recorded
from tests.contract.templateforms import (
    WORKLOADS,
    at,
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

FIELD = {
    "name": "NODE",
    "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}},
}
SECRET = {"secretKeyRef": {"name": "db", "key": "password", "optional": True}}
SHARE = {"resourceFieldRef": {"containerName": "app", "resource": "limits.cpu", "divisor": "0"}}
ENV = [
    {"name": "MODE", "value": "fast"},
    FIELD,
    {"name": "PASSWORD", "valueFrom": SECRET},
    {"name": "COLOUR", "valueFrom": {"configMapKeyRef": {"name": "look", "key": "colour"}}},
    {"name": "EMPTY"},
    {"name": "TEXT", "value": " two\n lines $(MODE) "},
    {"name": "BELL", "value": "a\u0007b"},
    {"name": "CPUS", "valueFrom": SHARE},
]
PODS = {
    "containers": [
        {"name": "app", "image": "example/a:1", "env": ENV, "ports": [{"containerPort": 80}]},
        {"name": "log", "image": "example/b:1", "envFrom": [{"configMapRef": {"name": "look"}}]},
    ],
    "initContainers": [{"name": "init", "image": "example/c:1", "env": ENV[:1]}],
}


def without_env(pods: Obj) -> Obj:
    groups = {
        group: [{**one, "env": []} for one in pods[group]]
        for group in ("containers", "initContainers")
    }
    return {**pods, **groups}


@pytest.mark.parametrize("gvr", [*WORKLOADS], ids=lambda gvr: str(gvr.resource))
async def test_variables_are_changed_added_moved_and_removed_without_other_changes(
    admin: Client, runtime: Runtime, namespace: str, olga: Person, gvr: GVR
) -> None:
    made = make(admin, runtime, namespace, PODS, gvr)
    name, before = made["metadata"]["name"], pods_of(made)
    env = before["containers"][0]["env"]
    page, sent = await form_of(olga, "environment", made, gvr)
    assert await page.is_offered(gvr.resource, Key(namespace, name))
    assert sent["containers0-0-value"] == "fast"
    assert sent["containers0-1-source"] == "kept"
    assert (sent["containers0-2-object"], sent["containers0-2-key"]) == ("db", "password")
    assert sent["containers0-5-value"] == " two\n lines $(MODE) "
    assert sent["containers0-6-source"] == "kept"
    changed = {
        # Change the key of the Secret, and replace the ConfigMap reference by a literal value.
        "containers0-2-key": "other",
        "containers0-3-source": "value",
        "containers0-3-value": "red\r\ngreen",
        "containers0-4-remove": "on",
        # Move the last variable to the top.
        "containers0-7-position": "1",
        "containers0-8-name": "NEW",
        "containers0-8-source": "configMapKeyRef",
        "containers0-8-object": "look",
        "containers0-8-key": "new",
        "containers0-8-position": "2",
        "containers1-0-name": "LEVEL",
        "containers1-0-value": "debug",
        "initContainers0-0-remove": "on",
    }
    await page.does(**{**sent, **changed})
    pods = pods_of(now(admin, made, gvr))
    password = {"secretKeyRef": {**SECRET["secretKeyRef"], "key": "other"}}
    assert pods["containers"][0]["env"] == [
        env[7],
        {"name": "NEW", "valueFrom": {"configMapKeyRef": {"name": "look", "key": "new"}}},
        env[0],
        env[1],
        {"name": "PASSWORD", "valueFrom": password},
        {"name": "COLOUR", "value": "red\ngreen"},
        env[5],
        env[6],
    ]
    assert pods["containers"][1]["env"] == [{"name": "LEVEL", "value": "debug"}]
    assert "env" not in pods["initContainers"][0]
    assert without_env(pods) == without_env(before)
    assert await recorded() == [(olga.name, "patch", "environment", name, 200)]


async def test_config_map_names_are_offered_without_reading_secrets(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace, PODS)
    found = admin.post(path(namespace, "configmaps"), config_map("look-1", colour="red")).ok()
    known(runtime, types.CONFIG_MAPS, found)
    secret = {"metadata": {"name": "db"}, "stringData": {"password": "hunter2-canary"}}
    admin.post(path(namespace, "secrets"), secret).ok()
    page, sent = await form_of(olga, "environment", made)
    text = await page.asks()
    assert '<option value="look-1">' in text
    answer = await page.client().post(
        page.url, {**sent, "uid": page.uid, "containers0-0-value": "slow", "step": "review"}
    )
    assert answer.status_code == 200
    assert "hunter2-canary" not in text + answer.content.decode()


async def test_concurrent_changes_of_other_users_are_kept(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace, PODS)
    page, sent = await form_of(olga, "environment", made)
    where = at(namespace, types.DEPLOYMENTS, made["metadata"]["name"])
    pods = pods_of(now(admin, made))
    pods["containers"][0]["image"] = "example/a:2"
    theirs = admin.patch(where, {"spec": {"template": {"spec": pods}}}, MERGE_PATCH).ok()
    typed = {**sent, "containers0-0-value": "slow"}
    # Fields that are not part of the form keep the other user's values.
    await page.does(**typed)
    assert pods_of(now(admin, made))["containers"][0]["image"] == "example/a:2"
    pods["containers"][0]["env"] = ENV[:2]
    theirs = admin.patch(where, {"spec": {"template": {"spec": pods}}}, MERGE_PATCH).ok()
    text = await page.refuses(409, **{**typed, "containers0-0-value": "slower"})
    assert "The value of spec.template.spec.containers has changed in the meantime." in text
    assert pods_of(now(admin, made)) == pods_of(theirs)


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        ({}, "", "No changes were made."),
        ({"containers0-0-name": ""}, "containers0-0-name", "Enter a name."),
        ({"containers0-0-name": "NODE"}, "containers0-0-name", "this name already exists."),
        ({"containers0-8-name": "MODE"}, "containers0-8-name", "this name already exists."),
        ({"containers0-8-value": "x"}, "containers0-8-name", "Enter a name."),
        ({"containers0-0-source": "kept"}, "containers0-0-source", "This option is no longer available."),
        ({"containers0-0-source": ""}, "containers0-0-source", "This option is no longer available."),
        ({"containers0-0-source": "secretKeyRef"}, "containers0-0-object", "Enter a name."),
        ({"containers0-0-source": "secretKeyRef"}, "containers0-0-key", "Enter a key."),
        ({"containers0-0-key": "k"}, "containers0-0-key", "does not use this field."),
        ({"containers0-1-value": "x"}, "containers0-1-value", "does not use this field."),
        ({"containers0-2-value": "x"}, "containers0-2-value", "does not use this field."),
        ({"containers0-0-position": "0"}, "containers0-0-position", "Use a whole number from 1"),
        ({"containers0-0-value": "a\0b"}, "containers0-0-value", ""),
        ({"containers9-0-name": "A"}, "", "No changes were made."),
        ({"containers0-99-name": "A"}, "", "The form is incomplete."),
        ({"was": "{"}, "", "The form is incomplete."),
        ({"was": '{"containers": [{"name": 1}]}'}, "", "The form is incomplete."),
        ({"was": '{"containers": [{"name": "a", "image": "b"}]}'}, "", "The form is incomplete."),
        ({"was": '{"containers": [{"name": "a", "env": [{}]}]}'}, "", "The form is incomplete."),
    ],
)  # fmt: skip
async def test_invalid_environment_values_are_reported_at_the_field(
    admin: Client,
    runtime: Runtime,
    namespace: str,
    olga: Person,
    typed: dict[str, str],
    field: str,
    said: str,
) -> None:
    made = make(admin, runtime, namespace, PODS)
    await says_what_is_wrong(admin, olga, "environment", made, typed, field, said)


async def test_validation_errors_of_the_cluster_are_reported_at_the_row(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace, PODS)
    typed = {
        "containers0-0-remove": "on",
        "containers0-8-name": "a=b",
        "containers0-8-position": "2",
        "containers0-3-object": "No_Name",
    }
    text = await what_the_cluster_finds(admin, olga, "environment", made, **typed)
    assert 'href="#form-containers0-8-name">Name: Invalid value' in text


async def test_a_tampered_baseline_changes_nothing(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace, PODS)
    page, sent = await form_of(olga, "environment", made)
    was = json.loads(sent["was"])
    was["containers"][0]["name"] = "other"
    typed = {**sent, "was": json.dumps(was), "containers0-0-value": "slow"}
    text = await page.refuses(409, **typed)
    assert "spec.template.spec.containers has changed in the meantime." in text
    was["containers"].append({"name": "more"})
    await page.refuses(409, **{**typed, "was": json.dumps(was)})
    assert pods_of(now(admin, made)) == pods_of(made)
