"""Requests to kube-apiserver use the identity of the requesting user only."""

import asyncio
from pathlib import Path

import pytest

from console.kube.clients import UserClient
from console.kube.credentials import Credentials
from console.kube.gvr import GVR
from console.kube.identity import Identity
from console.kube.transport import Transport
from devcluster.server import DevCluster
from rbac.process_clusters import set_host_cluster
from tests.support.fakeclient import FakeClient
from tests.support.responses import text_of
from tests.ui.support import admin, make_runtime
from tests.views import viewers
from tests.views.conftest import ClientAs

SELF = GVR("authentication.k8s.io", "v1", "selfsubjectreviews")
#: Attempts to set another identity: by case, underscore, repetition, and by asking to drop the
#: console's headers.
CLAIMS = (
    {"Impersonate-User": "eve"},
    {"impersonate-user": "system:admin", "Impersonate-Group": "system:masters"},
    {"Impersonate_User": "eve"},
    {"Impersonate-User": ""},
    {"Impersonate-Uid": "1", "Impersonate-Extra-Scopes": "all"},
    {"X-Remote-User": "eve", "X-Remote-Group": "system:masters"},
    {"Connection": "Impersonate-User, Authorization"},
    {"X-Forwarded-User": "eve", "Remote-User": "eve"},
    {"Forwarded": "for=127.0.0.1;by=eve", "Via": "Impersonate-User"},
)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("claims", CLAIMS)
async def test_request_headers_cannot_change_the_impersonated_user(
    claims: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewers, "VIEWERS", {"admin": admin})
    cluster = FakeClient()
    set_host_cluster(make_runtime(user_client=cluster.as_user))
    client = ClientAs()("admin", **claims)
    given = {"targets": "uid-shop-web-1 shop/web-1", "typed": "1"}
    response = await client.post("/bulk/host/pods/delete", given)
    assert response.status_code == 200
    await text_of(response)
    assert cluster.calls == [("admin", "shop/web-1", "uid-shop-web-1")]


async def test_shared_connections_keep_identities_separate(tmp_path: Path) -> None:
    with DevCluster(tmp_path) as cluster:
        transport = Transport(Credentials("admin", str(cluster.kubeconfig)))
        people = [
            UserClient(transport, Identity(f"person-{n}", (f"group-{n}",))) for n in range(50)
        ]

        async def ask(client: UserClient) -> None:
            for _turn in range(20):
                review = {"kind": "SelfSubjectReview"}
                found = (await client.create(SELF, review, stored=False))["status"]
                assert found["userInfo"]["username"] == client.identity.name
                own = set(client.identity.groups)
                assert {group for group in found["userInfo"]["groups"] if group[0] == "g"} == own

        try:
            await asyncio.gather(*(ask(client) for client in people))
        finally:
            await transport.close()
