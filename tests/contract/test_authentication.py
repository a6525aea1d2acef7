"""Who a request is from."""

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


def it_takes_nobody_for_anonymous(nobody: Client) -> None:
    answer = nobody.get("/api/v1/pods")
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert answer.json["message"] == (
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group ""'
        " at the cluster scope"
    )


def it_shows_nobody_the_version_and_the_health(nobody: Client) -> None:
    assert nobody.get("/version").status == 200
    assert nobody.get("/readyz").status == 200
    assert nobody.get("/api").status == 403


@pytest.mark.parametrize("path", ["/api/v1/pods", "/version", "/nothing", SELF])
def it_refuses_a_token_it_does_not_know(clients: Clients, path: str) -> None:
    answer = clients.of(Credentials(token="not-a-token")).get(path)
    assert (answer.status, answer.reason) == (401, "Unauthorized")
    assert answer.json["message"] == "Unauthorized"
    assert "details" not in answer.json


def it_knows_the_user_of_a_token(reader: Client) -> None:
    found = who_am_i(reader)
    assert found["username"] == "reader"
    assert "system:authenticated" in found["groups"]


def it_shows_those_it_knows_what_there_is(reader: Client) -> None:
    assert reader.get("/api").status == 200
    assert reader.get("/apis/apps/v1").status == 200


def it_gives_those_it_knows_no_rights(reader: Client, namespace: str) -> None:
    answer = reader.get(path(namespace, "pods"))
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert answer.json["details"] == {"kind": "pods"}
    assert answer.json["message"] == (
        'pods is forbidden: User "reader" cannot list resource "pods" in API group ""'
        f' in the namespace "{namespace}"'
    )


def it_knows_users_and_groups_of_credentials(clients: Clients) -> None:
    found = who_am_i(clients.user("grouped", "one", "two"))
    assert found["username"] == "grouped"
    assert found["groups"] == ["one", "two", "system:authenticated"]


def it_lets_masters_do_everything(clients: Clients) -> None:
    boss = clients.user("boss", "system:masters")
    assert boss.get("/api/v1/secrets").status == 200
    assert boss.get("/metrics").status in (200, 404)


def it_ignores_other_schemes(clients: Clients) -> None:
    answer = clients.of(Credentials()).with_headers(("Authorization", "Basic YTpi")).get("/api")
    assert answer.status == 403


def it_reviews_tokens(admin: Client, cluster: Cluster) -> None:
    body = {"spec": {"token": cluster.bearer()}}
    status = admin.post(TOKENS, body).ok()["status"]
    assert status["authenticated"] is True
    assert status["user"]["username"] == "reader"
    refused = admin.post(TOKENS, {"spec": {"token": "nonsense"}}).ok()["status"]
    assert "authenticated" not in refused
    assert refused["error"]


def it_issues_tokens_of_service_accounts(admin: Client, clients: Clients, namespace: str) -> None:
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


def it_refuses_tokens_of_service_accounts_that_are_gone(
    admin: Client, clients: Clients, namespace: str
) -> None:
    where = path(namespace, "serviceaccounts")
    admin.post(where, {"metadata": {"name": "gone"}}).ok()
    token = admin.post(f"{where}/gone/token", {"spec": {}}).ok()["status"]["token"]
    admin.delete(f"{where}/gone").ok()
    robot = clients.of(Credentials(token=token))
    # A token that was known is remembered for ten seconds.
    eventually(lambda: robot.post(SELF, {}).status == 401, "it is refused", timeout=30)
