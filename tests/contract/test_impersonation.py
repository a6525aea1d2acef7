"""Impersonation, which the console uses for writes."""

import pytest

from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Clients
from tests.contract.grants import Grants, group, rule, user
from tests.contract.objects import config_map, path, unique
from tests.controlplane.waiting import eventually

SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@pytest.fixture
def grants(cleanup: Cleanup, namespace: str) -> Grants:
    return Grants(cleanup, namespace)


def acting(client: Client, name: str, *groups: str) -> Client:
    headers = [("Impersonate-Group", group) for group in groups]
    return client.with_headers(("Impersonate-User", name), *headers)


def user_info(client: Client) -> Obj:
    found: Obj = client.post(SELF, {}).ok()["status"]["userInfo"]
    return found


def works(client: Client) -> bool:
    return client.post(SELF, {}).status == 201


def test_the_impersonated_user_and_groups_are_used(admin: Client) -> None:
    found = user_info(acting(admin, "ann", "one", "two"))
    assert found == {"username": "ann", "groups": ["one", "two", "system:authenticated"]}


def test_a_user_without_groups_is_impersonated(admin: Client) -> None:
    expected = {"username": "ann", "groups": ["system:authenticated"]}
    assert user_info(acting(admin, "ann")) == expected


def test_uid_and_extra_fields_are_impersonated(admin: Client) -> None:
    client = acting(admin, "ann").with_headers(
        ("Impersonate-Uid", "u-1"),
        ("Impersonate-Extra-Scopes", "view"),
        ("Impersonate-Extra-Example.com%2fteam", "blue"),
    )
    found = user_info(client)
    assert found["uid"] == "u-1"
    assert found["extra"] == {"scopes": ["view"], "example.com/team": ["blue"]}


def test_an_impersonated_service_account_has_its_groups(admin: Client) -> None:
    found = user_info(acting(admin, "system:serviceaccount:default:robot"))
    assert found["groups"] == [
        "system:serviceaccounts",
        "system:serviceaccounts:default",
        "system:authenticated",
    ]


def test_the_anonymous_user_is_impersonated(admin: Client) -> None:
    found = acting(admin, "system:anonymous").get("/api")
    assert found.status == 403
    assert "system:anonymous" in found.json["message"]


def test_only_permissions_of_the_impersonated_user_apply(
    admin: Client, grants: Grants, namespace: str
) -> None:
    name = unique("user")
    grants.here(user(name), rule("get list", "configmaps"))
    grants.wait(name, namespace=namespace, verb="list", resource="configmaps")
    client = acting(admin, name)
    assert client.get(path(namespace, "configmaps")).status == 200
    refused = client.post(path(namespace, "configmaps"), config_map("x"))
    assert (refused.status, refused.reason) == (403, "Forbidden")
    assert f'User "{name}" cannot create resource "configmaps"' in refused.json["message"]
    assert client.get(path("default", "configmaps")).status == 403


def test_permissions_of_the_impersonated_groups_apply(
    admin: Client, grants: Grants, namespace: str
) -> None:
    team = unique("team")
    grants.here(group(team), rule("list", "secrets"))
    grants.wait("x", [team], namespace=namespace, verb="list", resource="secrets")
    assert acting(admin, "ann", team).get(path(namespace, "secrets")).status == 200
    assert acting(admin, "ann", "other").get(path(namespace, "secrets")).status == 403


def test_groups_of_the_impersonator_do_not_apply(admin: Client, namespace: str) -> None:
    answer = acting(admin, "ann").get(path(namespace, "secrets"))
    assert answer.status == 403


def test_impersonating_system_masters_grants_everything(admin: Client, namespace: str) -> None:
    client = acting(admin, "ann", "system:masters")
    assert client.get(path(namespace, "secrets")).status == 200


@pytest.mark.parametrize("name", [[], [("Impersonate-User", "")]], ids=["no user", "empty user"])
def test_impersonating_groups_requires_a_user(admin: Client, name: list[tuple[str, str]]) -> None:
    answer = admin.with_headers(*name, ("Impersonate-Group", "g")).get("/api")
    assert (answer.status, answer.reason) == (400, "BadRequest")
    assert "without impersonating a user" in answer.json["message"]


@pytest.mark.parametrize("header", ["Impersonate-Uid", "Impersonate-Extra-Scopes"])
def test_impersonating_uid_or_extra_requires_a_user(admin: Client, header: str) -> None:
    assert admin.with_headers((header, "x")).get("/api").status == 400


def test_an_empty_user_header_disables_impersonation(admin: Client) -> None:
    """A client must therefore never send an empty Impersonate-User header."""
    found = user_info(acting(admin, ""))
    assert "system:masters" in found["groups"]


def test_impersonation_requires_permission(clients: Clients) -> None:
    answer = acting(clients.user("stranger"), "ann").post(SELF, {})
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert '"stranger" cannot impersonate' in answer.json["message"]


def test_impersonating_oneself_requires_permission(clients: Clients) -> None:
    assert acting(clients.user("stranger"), "stranger").post(SELF, {}).status == 403


def test_impersonating_users_does_not_include_groups(clients: Clients, grants: Grants) -> None:
    name = unique("proxy")
    grants.everywhere(user(name), rule("impersonate", "users"))
    proxy = clients.user(name)
    eventually(lambda: works(acting(proxy, "ann")), "it may act as users")
    assert user_info(acting(proxy, "ann"))["username"] == "ann"
    assert acting(proxy, "ann", "team").post(SELF, {}).status == 403
    assert acting(proxy, "system:serviceaccount:default:robot").post(SELF, {}).status == 403


def test_impersonating_groups_does_not_include_uids(clients: Clients, grants: Grants) -> None:
    name = unique("proxy")
    grants.everywhere(user(name), rule("impersonate", "users"), rule("impersonate", "groups"))
    proxy = clients.user(name)
    eventually(lambda: works(acting(proxy, "ann", "team")), "it may act as groups")
    assert user_info(acting(proxy, "ann", "team"))["groups"] == ["team", "system:authenticated"]
    assert acting(proxy, "ann").with_headers(("Impersonate-Uid", "1")).post(SELF, {}).status == 403


def test_impersonation_can_be_limited_to_names(clients: Clients, grants: Grants) -> None:
    name = unique("proxy")
    grants.everywhere(
        user(name),
        rule("impersonate", "users", names="ann"),
        rule("impersonate", "groups", names="team"),
    )
    proxy = clients.user(name)
    eventually(lambda: works(acting(proxy, "ann", "team")), "it may act as ann")
    assert acting(proxy, "bob").post(SELF, {}).status == 403
    assert acting(proxy, "ann", "other").post(SELF, {}).status == 403
    assert acting(proxy, "ann", "team", "other").post(SELF, {}).status == 403
    assert acting(proxy, "ann", "system:masters").post(SELF, {}).status == 403


def test_impersonating_extra_fields_requires_permission(clients: Clients, grants: Grants) -> None:
    name = unique("proxy")
    grants.everywhere(
        user(name),
        rule("impersonate", "users"),
        rule("impersonate", "userextras/scopes", "authentication.k8s.io", "view"),
    )
    proxy = acting(clients.user(name), "ann")
    view = proxy.with_headers(("Impersonate-Extra-Scopes", "view"))
    eventually(lambda: works(view), "it may act with that extra")
    assert proxy.with_headers(("Impersonate-Extra-Scopes", "edit")).post(SELF, {}).status == 403
    assert proxy.with_headers(("Impersonate-Extra-Other", "view")).post(SELF, {}).status == 403


def test_impersonation_is_checked_on_public_paths(clients: Clients) -> None:
    assert acting(clients.user("stranger"), "ann").get("/version").status == 403
