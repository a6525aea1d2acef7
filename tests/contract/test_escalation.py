"""RBAC escalation prevention: users can only grant their own permissions, unless they have the verb
`escalate` or `bind`.
"""

import pytest

from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Answer, Client, Obj
from tests.contract.cluster import Clients
from tests.contract.grants import GROUP, VERSION, Grants, role_ref, rule, user
from tests.contract.objects import path, unique

_MANAGE = rule("create update patch get delete", "roles rolebindings", GROUP)


@pytest.fixture
def grants(cleanup: Cleanup, namespace: str) -> Grants:
    return Grants(cleanup, namespace)


@pytest.fixture
def who(grants: Grants, namespace: str) -> str:
    """Return a user who can manage roles and read ConfigMaps."""
    name = unique("user")
    grants.here(user(name), _MANAGE, rule("get list", "configmaps"))
    grants.wait(name, namespace=namespace, verb="get", resource="configmaps")
    return name


def create_role(client: Client, namespace: str, *rules: Obj) -> Answer:
    body = {"metadata": {"name": unique("contract")}, "rules": list(rules)}
    return client.post(path(namespace, "roles", group=VERSION), body)


def bind(client: Client, namespace: str, kind: str, role: str) -> Answer:
    body = {
        "metadata": {"name": unique("contract")},
        "roleRef": role_ref(kind, role),
        "subjects": [user("ann")],
    }
    return client.post(path(namespace, "rolebindings", group=VERSION), body)


def test_users_can_grant_their_own_permissions(clients: Clients, who: str, namespace: str) -> None:
    client = clients.user(who)
    made = create_role(client, namespace, rule("get", "configmaps"))
    assert made.status == 201
    assert bind(client, namespace, "Role", made.json["metadata"]["name"]).status == 201


@pytest.mark.parametrize(
    "given",
    [
        rule("delete", "configmaps"),
        rule("get", "secrets"),
        rule("*", "configmaps"),
        rule("get", "*"),
        rule("get", "configmaps", "*"),
    ],
    ids=["a verb", "a resource", "all verbs", "all resources", "all groups"],
)
def test_creating_a_role_with_more_permissions_is_forbidden(
    clients: Clients, who: str, namespace: str, given: Obj
) -> None:
    answer = create_role(clients.user(who), namespace, given)
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert "is attempting to grant RBAC permissions not currently held" in answer.json["message"]


def test_users_can_grant_a_subset_of_a_rule(clients: Clients, who: str, namespace: str) -> None:
    given = rule("get", "configmaps", names="one")
    assert create_role(clients.user(who), namespace, given).status == 201


def test_adding_permissions_to_a_role_is_forbidden(
    clients: Clients, who: str, namespace: str
) -> None:
    client = clients.user(who)
    name = create_role(client, namespace, rule("get", "configmaps")).ok()["metadata"]["name"]
    where = path(namespace, "roles", name, group=VERSION)
    answer = client.patch(where, {"rules": [rule("get", "secrets")]}, MERGE_PATCH)
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert client.patch(where, {"rules": []}, MERGE_PATCH).status == 200


def test_binding_a_role_with_more_permissions_is_forbidden(
    admin: Client, clients: Clients, who: str, namespace: str
) -> None:
    role = create_role(admin, namespace, rule("get", "secrets")).ok()["metadata"]["name"]
    answer = bind(clients.user(who), namespace, "Role", role)
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert "is attempting to grant RBAC permissions not currently held" in answer.json["message"]
    assert bind(clients.user(who), namespace, "ClusterRole", "cluster-admin").status == 403


def test_binding_a_missing_role_returns_404(clients: Clients, who: str, namespace: str) -> None:
    answer = bind(clients.user(who), namespace, "Role", "absent")
    assert (answer.status, answer.reason) == (404, "NotFound")


def test_the_bind_verb_allows_binding(
    clients: Clients, who: str, grants: Grants, namespace: str
) -> None:
    grants.here(user(who), rule("bind", "clusterroles", GROUP, names="view"))
    asked = {"group": GROUP, "resource": "clusterroles", "name": "view", "verb": "bind"}
    grants.wait(who, namespace=namespace, **asked)
    client = clients.user(who)
    assert bind(client, namespace, "ClusterRole", "view").status == 201
    assert bind(client, namespace, "ClusterRole", "edit").status == 403


def test_the_escalate_verb_allows_granting_more(
    clients: Clients, who: str, grants: Grants, namespace: str
) -> None:
    grants.here(user(who), rule("escalate", "roles", GROUP))
    grants.wait(who, namespace=namespace, group=GROUP, resource="roles", verb="escalate")
    assert create_role(clients.user(who), namespace, rule("get", "secrets")).status == 201


def test_system_masters_can_grant_everything(clients: Clients, namespace: str) -> None:
    boss = clients.user("boss", "system:masters")
    assert create_role(boss, namespace, rule("*", "*", "*")).status == 201


def test_invalid_rules_are_rejected(admin: Client, namespace: str) -> None:
    answer = create_role(admin, namespace, {"verbs": ["get"]})
    assert (answer.status, answer.reason) == (422, "Invalid")
    answer = create_role(admin, namespace, {"verbs": ["get"], "nonResourceURLs": ["/x"]})
    assert (answer.status, answer.reason) == (422, "Invalid")
