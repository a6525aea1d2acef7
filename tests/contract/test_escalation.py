"""Nobody gives away rights that he has not, unless he may escalate or bind."""

import pytest

from tests.contract.client import MERGE_PATCH, Answer, Client, Obj
from tests.contract.cluster import Clients
from tests.contract.grants import GROUP, VERSION, Grants, role_ref, rule, user
from tests.contract.objects import path, unique
from tests.contract.tidy import Scrap

_MANAGE = rule("create update patch get delete", "roles rolebindings", GROUP)


@pytest.fixture
def grants(scrap: Scrap, namespace: str) -> Grants:
    return Grants(scrap, namespace)


@pytest.fixture
def who(grants: Grants, namespace: str) -> str:
    """Somebody who manages roles and may read config maps."""
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


def it_lets_one_give_what_one_has(clients: Clients, who: str, namespace: str) -> None:
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
def it_refuses_to_create_more(clients: Clients, who: str, namespace: str, given: Obj) -> None:
    answer = create_role(clients.user(who), namespace, given)
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert "is attempting to grant RBAC permissions not currently held" in answer.json["message"]


def it_takes_a_part_of_a_rule(clients: Clients, who: str, namespace: str) -> None:
    given = rule("get", "configmaps", names="one")
    assert create_role(clients.user(who), namespace, given).status == 201


def it_refuses_to_add(clients: Clients, who: str, namespace: str) -> None:
    client = clients.user(who)
    name = create_role(client, namespace, rule("get", "configmaps")).ok()["metadata"]["name"]
    where = path(namespace, "roles", name, group=VERSION)
    answer = client.patch(where, {"rules": [rule("get", "secrets")]}, MERGE_PATCH)
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert client.patch(where, {"rules": []}, MERGE_PATCH).status == 200


def it_refuses_to_bind_more(admin: Client, clients: Clients, who: str, namespace: str) -> None:
    role = create_role(admin, namespace, rule("get", "secrets")).ok()["metadata"]["name"]
    answer = bind(clients.user(who), namespace, "Role", role)
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert "is attempting to grant RBAC permissions not currently held" in answer.json["message"]
    assert bind(clients.user(who), namespace, "ClusterRole", "cluster-admin").status == 403


def it_finds_no_role_to_bind(clients: Clients, who: str, namespace: str) -> None:
    answer = bind(clients.user(who), namespace, "Role", "absent")
    assert (answer.status, answer.reason) == (404, "NotFound")


def it_binds_with_the_verb(clients: Clients, who: str, grants: Grants, namespace: str) -> None:
    grants.here(user(who), rule("bind", "clusterroles", GROUP, names="view"))
    asked = {"group": GROUP, "resource": "clusterroles", "name": "view", "verb": "bind"}
    grants.wait(who, namespace=namespace, **asked)
    client = clients.user(who)
    assert bind(client, namespace, "ClusterRole", "view").status == 201
    assert bind(client, namespace, "ClusterRole", "edit").status == 403


def it_escalates_with_the_verb(clients: Clients, who: str, grants: Grants, namespace: str) -> None:
    grants.here(user(who), rule("escalate", "roles", GROUP))
    grants.wait(who, namespace=namespace, group=GROUP, resource="roles", verb="escalate")
    assert create_role(clients.user(who), namespace, rule("get", "secrets")).status == 201


def it_lets_masters_give_everything(clients: Clients, namespace: str) -> None:
    boss = clients.user("boss", "system:masters")
    assert create_role(boss, namespace, rule("*", "*", "*")).status == 201


def it_wants_rules_that_make_sense(admin: Client, namespace: str) -> None:
    answer = create_role(admin, namespace, {"verbs": ["get"]})
    assert (answer.status, answer.reason) == (422, "Invalid")
    answer = create_role(admin, namespace, {"verbs": ["get"], "nonResourceURLs": ["/x"]})
    assert (answer.status, answer.reason) == (422, "Invalid")
