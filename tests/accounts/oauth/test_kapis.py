"""The user resource of KubeSphere's API."""

from typing import Any

import pytest

from console.kube.informer import Informer
from tests.accounts.conftest import PASSWORD, hashed
from tests.accounts.oauth.conftest import (
    ME,
    Program,
)
from tests.rbac.objects import user
from tests.support.informers import bring
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

USERS = "/kapis/iam.kubesphere.io/v1alpha2/users/"


async def test_the_user_object_has_no_secrets(
    program: Program, users: Informer[Any], runtime: StaticRuntime
) -> None:
    annotations = {
        "kubectl.kubernetes.io/last-applied-configuration": '{"spec":{"password":"canary"}}',
        "iam.kubesphere.io/last-password-change-time": "2026-03-01T12:00:00Z",
    }
    bring(users, user("admin", password=hashed(PASSWORD), annotations=annotations))
    token = (await program.signed_in("admin"))["access_token"]
    for path in (USERS + "admin", USERS.replace("/kapis/", "/kapis/clusters/host/") + "admin"):
        answer = await program.get(path, token)
        assert answer["Content-Type"] == "application/json"
        assert answer.json() == {
            "kind": "User",
            "apiVersion": "iam.kubesphere.io/v1alpha2",
            "metadata": {
                "name": "admin",
                "uid": "uid-admin",
                "resourceVersion": "10",
                "annotations": {
                    "iam.kubesphere.io/last-password-change-time": "2026-03-01T12:00:00Z",
                    "iam.kubesphere.io/globalrole": "platform-admin",
                },
            },
            "spec": {"email": "admin@example.com"},
            "status": {"state": "Active"},
        }


async def test_another_user_needs_the_right_to_get_users(program: Program) -> None:
    alice, admin = [(await program.signed_in(n))["access_token"] for n in ("alice", "admin")]
    there, missing = [await program.get(USERS + n, alice) for n in ("bob", "nobody")]
    assert there.status_code == missing.status_code == 403
    assert there.content == missing.content.replace(b"nobody", b"bob")
    assert (await program.get(USERS + "bob", admin)).json()["metadata"]["name"] == "bob"
    assert (await program.get(USERS + "nobody", admin)).status_code == 404


async def test_anonymous_requests_get_401(program: Program) -> None:
    answer = await program.get(ME)
    assert (answer.status_code, answer.json()["reason"]) == (401, "Unauthorized")
    assert answer["WWW-Authenticate"] == 'Bearer realm="Quarterdeck"'


async def test_other_clusters_are_not_found(program: Program) -> None:
    token = (await program.signed_in())["access_token"]
    answer = await program.get(ME.replace("/kapis/", "/kapis/clusters/edge/"), token)
    assert answer.status_code == 404


async def test_other_methods_are_refused(program: Program) -> None:
    token = (await program.signed_in())["access_token"]
    answer = await program.post(ME, {}, Authorization=f"Bearer {token}")
    assert (answer.status_code, answer["Allow"]) == (405, "DELETE, GET, PATCH, PUT")
