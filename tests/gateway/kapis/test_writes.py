"""Writes through KubeSphere's API are sent as the user and recorded in the audit trail."""

import json
from functools import partial
from typing import Any

import pytest

from tests.controlplane.waiting import eventually
from tests.gateway.demo import Demo, Reply
from tests.gateway.kapis.rows import IAM, NEW, NEW_TENANT, TENANT

pytestmark = pytest.mark.programs

SECRET = "Correct-Horse7"


def _send(demo: Demo, method: str, path: str, body: Any = None, user: str = "admin") -> Reply:
    return demo.send(method, path, user=user, body=json.dumps(body).encode() if body else b"")


def _ok(reply: Reply) -> Any:
    assert reply.status == 200, reply.body
    return reply.object


def _created(demo: Demo, name: str) -> str:
    user = {
        "metadata": {
            "name": name,
            "annotations": {"iam.kubesphere.io/globalrole": "platform-regular"},
        },
        "spec": {"email": f"{name}@example.com", "password": SECRET},
    }
    made = _ok(_send(demo, "POST", f"{IAM}/users", user))
    assert "password" not in made["spec"]
    return name


def test_a_user_is_created_changed_and_deleted(demo: Demo) -> None:
    name = _created(demo, "dora")
    path = f"{IAM}/users/{name}"
    found = _ok(demo.send("GET", path))
    assert found["metadata"]["annotations"]["iam.kubesphere.io/globalrole"] == "platform-regular"
    before = demo.send("GET", path)

    def change() -> Any:
        # A controller may change the user at the same time, which is a conflict.
        found = _ok(demo.send("GET", path))
        found["spec"]["description"] = "Tester"
        reply = _send(demo, "PUT", path, found)
        assert reply.status in (200, 409), reply.body
        return reply.status == 200 and _ok(reply)

    assert eventually(change, "the user is changed")["spec"]["description"] == "Tester"
    assert _send(demo, "PUT", path, _ok(before)).status == 409
    changed = _ok(_send(demo, "PATCH", path, {"status": {"state": "Disabled"}}))
    assert changed["status"]["state"] == "Disabled"
    _ok(_send(demo, "PUT", f"{path}/password", {"password": f"{SECRET}8"}))
    assert _ok(demo.send("DELETE", path)) == {"message": "success"}
    eventually(lambda: demo.send("GET", path).status == 404, "the user is deleted")
    assert _send(demo, "POST", f"{IAM}/users", {"metadata": {"name": "Not Valid"}}).status == 400


def test_members_of_a_workspace_are_managed_by_its_administrator(demo: Demo) -> None:
    name = _created(demo, "erin")
    members = f"{IAM}/workspaces/shop/workspacemembers"
    given = [{"username": name, "roleRef": "shop-viewer"}]
    assert _ok(_send(demo, "POST", members, given, "alice")) == given
    one = f"{members}/{name}"
    role = "iam.kubesphere.io/workspacerole"
    assert (
        _ok(demo.send("GET", one, user="alice"))["metadata"]["annotations"][role] == "shop-viewer"
    )
    _ok(_send(demo, "PUT", one, {"username": name, "roleRef": "shop-regular"}, "alice"))
    assert (
        _ok(demo.send("GET", one, user="alice"))["metadata"]["annotations"][role] == "shop-regular"
    )
    group = {"metadata": {"annotations": {"kubesphere.io/alias-name": "Testers"}}}
    department = _ok(_send(demo, "POST", f"{IAM}/workspaces/shop/groups", group, "alice"))
    inside = [{"userName": name, "groupName": department["metadata"]["name"]}]
    _ok(_send(demo, "POST", f"{IAM}/workspaces/shop/groupbindings", inside, "alice"))
    # A controller may change the membership at the same time, which is a conflict.
    remove = partial(demo.send, "DELETE", one, user="alice")
    eventually(lambda: remove().status in (200, 404), "the member is removed")
    assert demo.send("GET", one, user="alice").status == 404
    path = f"{IAM}/workspaces/shop/groups/{department['metadata']['name']}"
    _ok(demo.send("DELETE", path, user="alice"))


def test_a_role_has_the_rules_of_its_templates(demo: Demo) -> None:
    roles = f"{IAM}/workspaces/shop/workspaceroles"
    template = _ok(
        demo.send("GET", f"{roles}?labelSelector=iam.kubesphere.io/role-template%3Dtrue")
    )
    name = template["items"][0]["metadata"]["name"]
    notes = {"iam.kubesphere.io/aggregation-roles": json.dumps([name])}
    role = {"metadata": {"name": "shop-tester", "annotations": notes}, "rules": [{"verbs": ["*"]}]}
    made = _ok(_send(demo, "POST", roles, role, "alice"))
    assert made["metadata"]["name"] == "shop-tester"
    assert {"verbs": ["*"]} not in made["rules"]
    notes["kubesphere.io/description"] = "For tests"
    changed = _ok(
        _send(demo, "PUT", f"{roles}/shop-tester", {"metadata": {"annotations": notes}}, "alice")
    )
    assert changed["metadata"]["annotations"]["kubesphere.io/description"] == "For tests"
    _ok(demo.send("DELETE", f"{roles}/shop-tester", user="alice"))


def test_workspaces_and_projects_are_created_and_deleted(demo: Demo) -> None:
    templates = f"{NEW_TENANT}/workspacetemplates"
    _ok(_send(demo, "POST", templates, {"metadata": {"name": "lab"}, "spec": {}}))
    project = {"metadata": {"name": "bench", "labels": {"kubesphere.io/workspace": "shop"}}}
    projects = f"{TENANT}/workspaces/lab/namespaces"
    made = _ok(_send(demo, "POST", projects, project))
    assert made["metadata"]["labels"]["kubesphere.io/workspace"] == "lab"
    assert made["metadata"]["annotations"]["kubesphere.io/creator"] == "admin"
    patch = {"metadata": {"annotations": {"kubesphere.io/alias-name": "Bench"}}}
    _ok(_send(demo, "PATCH", f"{projects}/bench", patch))
    quota = {"spec": {"quota": {"hard": {"limits.cpu": "4"}}}}
    _ok(_send(demo, "POST", f"{TENANT}/workspaces/lab/resourcequotas", quota))
    found = partial(demo.send, "GET", f"{TENANT}/workspaces/lab/resourcequotas/lab")
    eventually(lambda: found().status == 200, "the quota is cached")
    assert found().object["spec"]["quota"]["hard"] == {"limits.cpu": "4"}
    _ok(demo.send("DELETE", f"{projects}/bench"))
    _ok(_send(demo, "DELETE", f"{templates}/lab", {"propagationPolicy": "Orphan"}))
    gone = partial(demo.send, "GET", f"{templates}/lab")
    eventually(lambda: gone().status == 404, "the workspace is deleted")


def test_a_custom_resource_is_written_without_a_route(demo: Demo) -> None:
    path = "/kapis/iam.kubesphere.io/v1alpha2/rolebases"
    base = {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "RoleBase",
        "metadata": {"name": "tester"},
        "role": {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role"},
    }
    _ok(_send(demo, "POST", path, base))
    _ok(_send(demo, "PATCH", f"{path}/tester", {"metadata": {"labels": {"a": "b"}}}))
    _ok(demo.send("DELETE", f"{path}/tester"))


def test_writes_and_reads_of_secrets_are_recorded_as_the_user(demo: Demo) -> None:
    before = len(demo.records())
    _ok(demo.send("GET", f"{NEW}/namespaces/payments/secrets?limit=1", user="alice"))
    body = [{"metadata": {"name": "mine"}, "roleRef": {"kind": "Role", "name": "viewer",
            "apiGroup": "rbac.authorization.k8s.io"}}]  # fmt: skip
    reply = _send(demo, "POST", f"{IAM}/namespaces/payments/rolebindings", body, "alice")
    assert reply.status in (200, 403)
    found = [
        (one["verb"], one["resource"], one["actor"], one["as_user"], one["origin"])
        for one in demo.records()[before:]
        if one["actor"] == "alice"
    ]
    assert ("list", "secrets", "alice", "alice", "gateway") in found
    assert ("create", "rolebindings", "alice", "alice", "gateway") in found
