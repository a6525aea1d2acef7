"""Malformed and hostile requests get an error of the client, never a failure of the console."""

import json

import pytest

from tests.gateway.demo import Demo
from tests.gateway.kapis.rows import IAM, NEW, NEW_TENANT, OLD, TENANT

pytestmark = pytest.mark.programs

_DEEP = b"[" * 50_000
PATHS = [
    "/kapis", "/kapis/", "/kapis/x", "/kapis/clusters", "/kapis/clusters/", "/kapis/clusters/host",
    "/kapis/clusters/host/", "/kapis/a.b/v1/c/d/e/f/g/h", "/kapis/a.b/v1/namespaces/x/y",
    "/kapis/%00/v1/x", "/kapis/a.b/v1/%0a", "/kapis/apps/v1/deployments", "/kapis//v1/secrets",
    f"{NEW}/%E2%82%AC", f"{NEW}/pods/..", f"{NEW}/namespaces/../pods", f"{NEW}/namespaces/A_B/pods",
    f"{NEW}/namespaces/{'n' * 300}/pods", f"{NEW}/{'r' * 1000}", f"{NEW}/namespaces/x/pods/{'p' * 900}",
    f"{NEW}/pods?page=-1", f"{NEW}/pods?page=99999999999999999999", f"{NEW}/pods?limit=0",
    f"{NEW}/pods?limit=-2", f"{NEW}/pods?page=1&page=2", f"{NEW}/pods?labelSelector=a=b=c=",
    f"{NEW}/pods?fieldSelector=a", f"{NEW}/pods?annotation=((", f"{NEW}/pods?{'x=1&' * 200}",
    f"{NEW}/pods?name={'x' * 1500}", f"{NEW}/pods?name=%00", f"{NEW}/pods?%ff=%fe",
    f"{OLD}/pods?conditions=,,,", f"{OLD}/pods?paging=page", f"{OLD}/pods?start=-1&limit=1",
    f"{IAM}/users/%2e%2e", f"{IAM}/users/{'u' * 900}", f"{IAM}/users?globalrole=%00",
    f"{IAM}/workspaces/A%20B/groups", f"{IAM}/workspaces/{'w' * 300}/workspacemembers",
    f"{IAM}/namespaces/%F0%9F%98%80/members", f"{TENANT}/workspaces/*/namespaces",
    f"{NEW_TENANT}/workspaces/%E4%B8%AD",
]  # fmt: skip
BODIES = [
    b"", b"{", b"null", b"[]", b"1", b'"x"', b"\xff\xfe", b"{}", b'{"metadata":1}',
    b'{"metadata":{"name":1}}',
    b'{"metadata":{"name":"a","labels":[1]}}', b'{"metadata":{"annotations":{"a":1}}}', b"[1]", b"[null]",
    b'[{"username":1}]', b'[{"username":"a","roleRef":[]}]', b'[{"userName":"a","groupName":{}}]',
    b'{"spec":1}', b'{"spec":{"password":{}}}', b'{"spec":{"quota":{"hard":{"cpu":"many"}}}}',
    b'{"metadata":{"name":"' + b"a" * 5000 + b'"}}', _DEEP,
    json.dumps({"metadata": {"name": "\u0000"}}).encode(),
    json.dumps({"metadata": {"name": "../../x"}, "spec": {"template": []}}).encode(),
    json.dumps({"currentPassword": None, "password": 1}).encode(),
    json.dumps([{"op": "add", "path": 1}]).encode(),
    json.dumps({"subjects": [{}], "roleRef": 5}).encode(),
]  # fmt: skip
WRITES = [
    ("POST", f"{IAM}/users"), ("PUT", f"{IAM}/users/bob"), ("PATCH", f"{IAM}/users/bob"),
    ("PUT", f"{IAM}/users/bob/password"), ("PUT", f"{IAM}/users/admin/password"),
    ("POST", f"{IAM}/globalroles"), ("PUT", f"{IAM}/globalroles/platform-admin"),
    ("POST", f"{IAM}/workspaces/shop/workspaceroles"), ("POST", f"{IAM}/clustermembers"),
    ("POST", f"{IAM}/workspaces/shop/workspacemembers"),
    ("PUT", f"{IAM}/workspaces/shop/workspacemembers/nobody"),
    ("POST", f"{IAM}/namespaces/payments/members"), ("POST", f"{IAM}/workspaces/shop/groupbindings"),
    ("PUT", f"{IAM}/workspaces/shop/groups/nothing"),
    ("POST", f"{IAM}/workspaces/shop/workspacerolebindings"),
    ("POST", f"{IAM}/namespaces/payments/rolebindings"),
    ("PUT", f"{TENANT}/workspaces/shop/namespaces/payments"),
    ("POST", f"{TENANT}/workspaces/shop/namespaces"),
    ("PUT", f"{TENANT}/workspaces/shop/resourcequotas/nothing"),
    ("PUT", f"{NEW_TENANT}/workspacetemplates/nothing"),
    ("POST", "/kapis/operations.kubesphere.io/v1alpha2/namespaces/payments/jobs/x?action=rerun"),
    ("POST", "/kapis/iam.kubesphere.io/v1alpha2/rolebases"),
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path[:60])
def test_a_malformed_address_is_an_error_of_the_client(demo: Demo, path: str) -> None:
    reply = demo.send("GET", path)
    assert reply.status == 200 or 400 <= reply.status < 500, reply.body
    assert reply.status == 200 or reply.object["kind"] == "Status"


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_a_malformed_body_is_an_error_of_the_client(demo: Demo, method: str, path: str) -> None:
    for body in BODIES:
        reply = demo.send(method, path, body=body)
        assert 400 <= reply.status < 500 or reply.status in (200, 201), (body[:80], reply.body)
        if reply.status >= 400:
            assert reply.object["kind"] == "Status"


def test_unknown_methods_name_the_allowed_ones(demo: Demo) -> None:
    reply = demo.send("DELETE", f"{IAM}/users")
    assert (reply.status, reply.headers["allow"]) == (405, "GET, POST")


def test_requests_without_credentials_are_refused(demo: Demo) -> None:
    for path in (f"{NEW}/pods", f"{IAM}/users/admin", "/kapis/openapi", "/kapis/nothing"):
        reply = demo.send("GET", path, user="")
        assert reply.status == 401
        assert reply.headers["www-authenticate"].startswith("Bearer")
    assert demo.send("GET", "/kapis/version", user="").status == 200
    assert demo.send("GET", "/kapis/clusters/host/version", user="").status == 200
    assert demo.send("GET", "/kapis/clusters/nowhere/version", user="").status == 401


def test_client_sent_identities_are_refused(demo: Demo) -> None:
    for line in ("Impersonate-User: admin", "X-Remote-User: admin", "Impersonate-Uid: 1"):
        assert demo.send("GET", f"{IAM}/users", line, user="alice").status in (400, 403)
