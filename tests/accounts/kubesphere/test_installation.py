"""Installing the console into a KubeSphere cluster keeps users, roles and workspaces, shows them,
and lets users sign in.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Event
from typing import Any

import pytest

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    GLOBAL_ROLE_BINDINGS,
    GROUPS,
    GVR,
    LEASES,
    LOGIN_RECORDS,
    ROLE_BINDINGS,
    USERS,
)
from tests.accounts.conftest import PASSWORD
from tests.accounts.kubesphere.objects import CONFIG_MAP, PLAIN, TEAM, WHOLE, Manifest
from tests.accounts.kubesphere.world import Visitor, World, type_of
from tests.controlplane.waiting import eventually
from tests.support.depth import fewer, number
from tests.workspaces.kubesphere_locks import lock_object
from workspaces.controllers.kubesphere_locks import NAME, NAMESPACE

NEW_PASSWORD = "Harbour-bridge-7"


def settled(world: World) -> None:
    """Wait until the controllers have reconciled everything, which adds missing finalizers."""

    def taken_in() -> bool:
        found = world.get(GROUPS, TEAM)
        return bool(found["metadata"].get("finalizers"))

    eventually(taken_in, "the controllers are at work", timeout=60)


def kept(was: Any, now: Any) -> bool:
    """Return True if `now` contains everything in `was`. Additions are allowed."""
    if isinstance(was, dict):
        return isinstance(now, dict) and all(kept(was[k], now.get(k)) for k in was if was[k] != {})
    return bool(was == now)


def test_existing_objects_are_kept(world: World) -> None:
    settled(world)
    for item in world.applied:
        if item["kind"] == "LoginRecord":
            continue
        found = world.get(type_of(item), item["metadata"]["name"])
        for part in (key for key in item if key not in ("metadata", "apiVersion")):
            said = item[part]
            if part == "status":
                # A sign-in changes only the time of the last sign-in.
                said = {key: value for key, value in said.items() if key != "lastLoginTime"}
            if item["metadata"]["name"] in PLAIN and part == "spec":
                said = {key: value for key, value in said.items() if key != "password"}
            # kube-apiserver returns null for empty rules of native roles.
            now = found.get(part) or type(said)()
            assert kept(said, now), (part, item, found)
        for part in ("labels", "annotations"):
            assert kept(item["metadata"].get(part) or {}, found["metadata"].get(part) or {}), item
        for finalizer in item["metadata"].get("finalizers") or []:
            assert finalizer in found["metadata"]["finalizers"]


def test_existing_crds_are_kept(world: World) -> None:
    for item in world.definitions:
        found = world.get(CUSTOM_RESOURCE_DEFINITIONS, item["metadata"]["name"])
        assert kept(item["spec"]["versions"], found["spec"]["versions"][:1] or None) or kept(
            item["spec"]["versions"][0]["schema"], found["spec"]["versions"][0]["schema"]
        )
        assert "app.kubernetes.io/managed-by" not in (found["metadata"].get("labels") or {})


# tests/accounts/test_bootstrap.py also tests this, and tests/accounts/test_on_a_cluster.py starts
# with two installations.
@pytest.mark.deep
def test_a_second_installation_changes_nothing(world: World) -> None:
    settled(world)
    names = ("admin", "jane", "dora", "leo")
    before = [world.get(USERS, name) for name in names]
    said = world.manage(
        "install", "--kubeconfig", str(world.cluster.kubeconfig),
        "--out", str(world.folder / "again"),
    )  # fmt: skip
    assert "Administrator:" not in said
    for name, was in zip(names, before, strict=True):
        assert kept(was["spec"], world.get(USERS, name)["spec"])
    for item in world.definitions:
        found = world.get(CUSTOM_RESOURCE_DEFINITIONS, item["metadata"]["name"])
        assert "app.kubernetes.io/managed-by" not in (found["metadata"].get("labels") or {})


@pytest.mark.parametrize(
    ("name", "lands"),
    [("admin", "/dashboard"), ("jane", "/workspaces/demo"), ("pat", "/dashboard")],
)
def test_users_sign_in_with_their_existing_password(world: World, name: str, lands: str) -> None:
    assert not Visitor(world.url).sign_in(name, "Wrong-passw0rd")

    def landed() -> bool:
        visitor = Visitor(world.url)
        assert visitor.sign_in(name)
        return visitor.landed.endswith(lands)

    # The start page depends on roles, which take effect after the controllers have reconciled them.
    eventually(landed, f"{name} lands on {lands}", timeout=60)

    def noted() -> bool:
        status = world.get(USERS, name)["status"]
        return bool(status["lastLoginTime"] > "2024" and status["state"] == "Active")

    eventually(noted, "the login is noted")


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_text_password_is_hashed(world: World, name: str) -> None:
    eventually(lambda: world.get(USERS, name).get("status"), "the state", timeout=60)
    found = world.get(USERS, name)
    assert found["spec"]["password"].startswith("$2")
    assert found["status"]["state"] == "Active"
    assert world.visitor().sign_in(name)


@pytest.mark.parametrize(
    "name", fewer(["dora", "leo", "lee", "gus", "hal", "oli"], "dora", "leo", "lee")
)
def test_disabled_users_stay_disabled(world: World, name: str) -> None:
    settled(world)
    was = next(one for one in world.applied if one["metadata"]["name"] == name)
    assert not Visitor(world.url).sign_in(name)
    assert kept(was["status"], world.get(USERS, name)["status"])


def test_an_uninitialized_user_must_choose_a_password(world: World) -> None:
    visitor = Visitor(world.url)
    visitor.sign_in("new")
    assert "/password/confirm" in visitor.landed
    status, text = visitor.post(
        "/password/confirm",
        "/password/confirm",
        current=PASSWORD,
        password=NEW_PASSWORD,
        again=NEW_PASSWORD,
    )
    assert status == 200, text
    assert Visitor(world.url).sign_in("new", NEW_PASSWORD)
    found = world.get(USERS, "new")
    assert "iam.kubesphere.io/uninitialized" not in found["metadata"]["annotations"]


PAGES = {
    "users.iam.kubesphere.io": "jane",
    "loginrecords.iam.kubesphere.io": "",
    "globalroles.iam.kubesphere.io": "people-managers",
    "globalrolebindings.iam.kubesphere.io": "pat-people-managers",
    "workspaceroles.iam.kubesphere.io": "demo-viewer",
    "workspacerolebindings.iam.kubesphere.io": "demo-admin",
    "groups.iam.kubesphere.io": TEAM,
    "groupbindings.iam.kubesphere.io": f"{TEAM}-jane-7gk2x",
    "workspaces.tenant.kubesphere.io": "demo",
    "workspacetemplates.tenant.kubesphere.io": "demo",
    "rolebases.iam.kubesphere.io": "viewer",
}


def listed(visitor: Visitor, path: str) -> list[Manifest]:
    return list(visitor.json(f"{path}?format=json&limit=200")["items"])


def test_the_objects_are_shown_on_the_pages_of_their_types(world: World) -> None:
    admin = world.visitor("admin")
    for resource, name in PAGES.items():
        path = f"/clusters/host/{resource}"
        items = eventually(partial(listed, admin, path), path)
        assert name in ("", *(item["name"] for item in items)), (resource, items)
        place = name or items[0]["name"]
        status, text = admin.get(f"{path}/{place}")
        assert status == 200, (resource, place)
        assert place in text
    for name in ("jane", "dora", "leo", "lee"):
        status, text = admin.get(f"/access/accounts/users/{name}")
        assert status == 200
        assert f"{name}@kubesphere.example" in text


def test_objects_written_by_the_console_match_the_schemas(world: World) -> None:
    """All writes use strict field validation, so stored objects comply with KubeSphere's schemas."""
    admin = world.visitor("admin")
    fields = {"name": "wren", "email": "wren@kubesphere.example", "displayName": "Wren"}
    status, text = admin.post(
        "/access/accounts/new", "/access/accounts/new",
        **fields, password=NEW_PASSWORD, description="made here",
    )  # fmt: skip
    assert status == 200, text
    found = eventually(lambda: world.get(USERS, "wren"), "the user")
    assert found["spec"].keys() >= {"email", "password"}
    assert world.visitor("wren", NEW_PASSWORD)

    def records() -> list[Manifest]:
        label = "iam.kubesphere.io/user-ref=wren"
        return world.listed(LOGIN_RECORDS, label)

    (record,) = eventually(records, "the login record")
    assert record["spec"]["success"] is True
    eventually(lambda: world.get(USERS, "wren")["status"]["state"] == "Active", "the state")


def test_a_department_is_a_group_of_its_members(world: World) -> None:
    settled(world)
    found = world.get(GROUPS, TEAM)["metadata"]
    assert [one["name"] for one in found["ownerReferences"]] == [WHOLE]
    home = world.get(GROUPS, WHOLE)["metadata"]["ownerReferences"]
    assert [(one["kind"], one["name"]) for one in home] == [("WorkspaceTemplate", "demo")]
    # By the workspace role of the group.
    jane = world.visitor("jane")
    path = "/clusters/host/configmaps?namespace=shop&format=json"
    eventually(lambda: jane.get(path)[0] == 200, "jane sees the project")


def test_deleting_a_user_created_with_kubectl_deletes_all_references(world: World) -> None:
    settled(world)
    made = {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "User",
        "metadata": {"name": "quinn"},
        "spec": {"email": "quinn@kubesphere.example", "password": NEW_PASSWORD},
    }
    world.put(made)
    finalizer = "finalizers.kubesphere.io/users"
    eventually(
        lambda: finalizer in (world.get(USERS, "quinn")["metadata"].get("finalizers") or []),
        "the finalizer",
    )
    world.kubectl("create", "rolebinding", "by-hand", "-n", "shop", "--role=viewer", "--user=quinn")
    world.kubectl(
        "create", "clusterrolebinding", "of-two", "--clusterrole=view", "--user=quinn",
        "--user=jane",
    )  # fmt: skip
    binding = {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "GlobalRoleBinding",
        "metadata": {"name": "quinn-people", "labels": {"iam.kubesphere.io/user-ref": "quinn"}},
        "roleRef": {
            "apiGroup": "iam.kubesphere.io",
            "kind": "GlobalRole",
            "name": "people-managers",
        },
        "subjects": [{"kind": "User", "name": "quinn", "apiGroup": "rbac.authorization.k8s.io"}],
    }
    world.put(binding)
    projected = (CLUSTER_ROLE_BINDINGS, "quarterdeck:globalrolebinding:quinn-people")
    eventually(lambda: world.get(*projected), "the projection")
    world.kubectl("delete", USERS.qualified, "quinn", "--timeout=60s")
    assert not world.get(ROLE_BINDINGS, "by-hand", "shop")
    assert not world.get(GLOBAL_ROLE_BINDINGS, "quinn-people")
    assert not world.get(*projected)
    subjects = world.get(CLUSTER_ROLE_BINDINGS, "of-two")["subjects"]
    assert [one["name"] for one in subjects] == ["jane"]
    world.put(made)
    eventually(lambda: world.get(USERS, "quinn").get("status"), "quinn again")
    review = world.kubectl("auth", "can-i", "--list", "--as=quinn", "-n", "shop")
    assert "*.*" not in review
    world.kubectl("delete", "clusterrolebinding", "of-two")
    assert json.dumps(world.get(USERS, "jane"))


def lock(gvr: GVR, second: int = 0) -> Manifest:
    """Return a lock written with a clock that is far ahead of this machine's clock."""
    renewed = f"2099-01-01T00:01:{second:02}.000000Z"
    return lock_object(gvr, holderIdentity="one", leaseDurationSeconds=600, renewTime=renewed)


@contextmanager
def renewing(world: World) -> Iterator[None]:
    """Renew the lock of KubeSphere 3.1 every second."""
    ended = Event()

    def renew() -> None:
        for second in range(60):
            world.cluster.api.request(
                "PATCH", CONFIG_MAPS.path(NAMESPACE, NAME), lock(CONFIG_MAPS, second),
                content_type="application/merge-patch+json",
            )  # fmt: skip
            if ended.wait(1):
                return

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(renew)
        try:
            yield
        finally:
            ended.set()
        done.result()


def test_the_doctor_reports_health_and_kubesphere_leftovers(world: World) -> None:
    """Tests two runs: one without findings, and one with the console on a NodePort."""
    settled(world)
    asked = number(50, 200)
    world.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    place = {"name": "ks-controller-manager", "namespace": NAMESPACE}
    rule = {"apiGroups": ["example.com"], "apiVersions": ["*"], "operations": ["*"]}
    for name, policy in (("fails", "Fail"), ("lets-through", "Ignore")):
        hook = {
            "name": f"{name}.example.com",
            "clientConfig": {"service": place},
            "rules": [{**rule, "resources": ["things"]}],
            "failurePolicy": policy,
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
        kind = {"apiVersion": "admissionregistration.k8s.io/v1"}
        metadata = {"name": name}
        world.put(
            {
                **kind,
                "kind": "ValidatingWebhookConfiguration",
                "metadata": metadata,
                "webhooks": [hook],
            }
        )
    try:
        world.put(lock(LEASES))
        world.put(lock(CONFIG_MAPS))
        world.put(CONFIG_MAP)
        with renewing(world):
            said = world.manage("doctor", "--questions", str(asked))
        assert f"{asked} decisions are identical" in said
        assert "accessTokenMaxAge: kubesphere-system/kubesphere-config" in said
        assert f"clients: {world.environment['AUTHENTICATION_CONFIG']}" in said
        assert "kubectl delete validatingwebhookconfigurations fails" in said
        assert "rejects writes of things.example.com" in said and "lets-through" not in said
        assert f"they renew the lock configmaps/{NAME} in {NAMESPACE}" in said
        # Cookies ignore ports: a NodePort on the console's host would receive its session cookies.
        world.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gate"}})
        addresses = {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]}
        world.kubectl(
            "patch", "node", "gate", "--subresource=status", "--type=merge",
            "-p", json.dumps({"status": addresses}),
        )  # fmt: skip
        said = world.manage("doctor", "--questions", "0", code=1)
        assert "BASE_URL is a node of the cluster" in said
        # The lock is no longer renewed.
        assert "kubectl delete" in said and "controllers are running" not in said
    finally:
        for name in ("fails", "lets-through"):
            world.kubectl("delete", "validatingwebhookconfiguration", name)
        world.kubectl("delete", "namespace", NAMESPACE)
        world.kubectl("delete", "node", "gate", "--ignore-not-found")
