"""Authentication of requests."""

import pytest

from tests.contract.client import Client, Credentials, Obj
from tests.contract.cluster import Clients, Cluster
from tests.contract.objects import path
from tests.controlplane.waiting import eventually

SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"


@pytest.fixture
def nobody(clients: Clients) -> Client:
    return clients.of(Credentials())


@pytest.fixture
def reader(clients: Clients, cluster: Cluster) -> Client:
    return clients.of(Credentials(token=cluster.bearer()))


def who_am_i(client: Client) -> Obj:
    found: Obj = client.post(SELF, {}).ok()["status"]["userInfo"]
    return found


def test_requests_without_credentials_are_anonymous(nobody: Client) -> None:
    answer = nobody.get("/api/v1/pods")
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert answer.json["message"] == (
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group ""'
        " at the cluster scope"
    )


def test_anonymous_requests_can_read_version_and_health(nobody: Client) -> None:
    assert nobody.get("/version").status == 200
    assert nobody.get("/readyz").status == 200
    assert nobody.get("/api").status == 403


@pytest.mark.parametrize("path", ["/api/v1/pods", "/version", "/nothing", SELF])
def test_an_unknown_token_is_unauthorized(clients: Clients, path: str) -> None:
    answer = clients.of(Credentials(token="not-a-token")).get(path)
    assert (answer.status, answer.reason) == (401, "Unauthorized")
    assert answer.json["message"] == "Unauthorized"
    assert "details" not in answer.json


def test_a_token_identifies_its_user(reader: Client) -> None:
    found = who_am_i(reader)
    assert found["username"] == "reader"
    assert "system:authenticated" in found["groups"]


def test_authenticated_users_can_use_discovery(reader: Client) -> None:
    assert reader.get("/api").status == 200
    assert reader.get("/apis/apps/v1").status == 200


def test_authenticated_users_have_no_permissions_by_default(reader: Client, namespace: str) -> None:
    answer = reader.get(path(namespace, "pods"))
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert answer.json["details"] == {"kind": "pods"}
    assert answer.json["message"] == (
        'pods is forbidden: User "reader" cannot list resource "pods" in API group ""'
        f' in the namespace "{namespace}"'
    )


def test_credentials_identify_user_and_groups(clients: Clients) -> None:
    found = who_am_i(clients.user("grouped", "one", "two"))
    assert found["username"] == "grouped"
    assert found["groups"] == ["one", "two", "system:authenticated"]


def test_system_masters_can_do_everything(clients: Clients) -> None:
    boss = clients.user("boss", "system:masters")
    assert boss.get("/api/v1/secrets").status == 200
    assert boss.get("/metrics").status in (200, 404)


def test_other_authorization_schemes_are_ignored(clients: Clients) -> None:
    answer = clients.of(Credentials()).with_headers(("Authorization", "Basic YTpi")).get("/api")
    assert answer.status == 403


def test_a_token_review_identifies_the_user(admin: Client, cluster: Cluster) -> None:
    body = {"spec": {"token": cluster.bearer()}}
    status = admin.post(TOKENS, body).ok()["status"]
    assert status["authenticated"] is True
    assert status["user"]["username"] == "reader"
    refused = admin.post(TOKENS, {"spec": {"token": "nonsense"}}).ok()["status"]
    assert "authenticated" not in refused
    assert refused["error"]


def test_service_account_tokens_can_be_requested(
    admin: Client, clients: Clients, namespace: str
) -> None:
    where = path(namespace, "serviceaccounts")
    admin.post(where, {"metadata": {"name": "robot"}}).ok()
    made = admin.post(f"{where}/robot/token", {"spec": {"expirationSeconds": 600}}).ok()
    assert made["status"]["expirationTimestamp"]
    robot = clients.of(Credentials(token=made["status"]["token"]))
    found = eventually(
        lambda: robot.post(SELF, {}).status == 201 and who_am_i(robot), "it is known"
    )
    assert found
    assert found["username"] == f"system:serviceaccount:{namespace}:robot"
    assert set(found["groups"]) == {
        "system:serviceaccounts",
        f"system:serviceaccounts:{namespace}",
        "system:authenticated",
    }


def test_tokens_of_deleted_service_accounts_are_rejected(
    admin: Client, clients: Clients, namespace: str
) -> None:
    where = path(namespace, "serviceaccounts")
    admin.post(where, {"metadata": {"name": "gone"}}).ok()
    token = admin.post(f"{where}/gone/token", {"spec": {}}).ok()["status"]["token"]
    admin.delete(f"{where}/gone").ok()
    robot = clients.of(Credentials(token=token))
    # The token authenticator caches valid tokens for ten seconds.
    eventually(lambda: robot.post(SELF, {}).status == 401, "it is refused", timeout=30)
