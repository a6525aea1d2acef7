"""RBAC decisions, checked by access reviews and by requests.

Rules: https://kubernetes.io/docs/reference/access-authn-authz/rbac/
"""

from collections.abc import Mapping

import pytest

from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Clients
from tests.contract.grants import Grants, group, review, role_ref, rule, service_account, user
from tests.contract.objects import path, unique
from tests.controlplane.waiting import eventually

Asked = Mapping[str, str]


@pytest.fixture
def grants(cleanup: Cleanup, namespace: str) -> Grants:
    return Grants(cleanup, namespace)


def asked(verb: str, resource: str, **more: str) -> Asked:
    """Return review attributes. `resource` can contain a subresource after a slash."""
    plural, _, subresource = resource.partition("/")
    found = {"verb": verb, "resource": plural, "subresource": subresource, **more}
    return {key: value for key, value in found.items() if value}


def outcome(admin: Client, who: str, namespace: str, question: Asked) -> bool:
    return review(admin, who, namespace=namespace, **question)


@pytest.mark.parametrize(
    ("given", "allowed", "refused"),
    [
        pytest.param(
            rule("get list", "pods"),
            [asked("get", "pods", name="a"), asked("list", "pods")],
            [asked("watch", "pods"), asked("get", "secrets"), asked("get", "pods", group="apps")],
            id="verbs and resources",
        ),
        pytest.param(
            rule("get delete", "secrets", names="one two"),
            [asked("get", "secrets", name="one"), asked("delete", "secrets", name="two")],
            [
                asked("get", "secrets", name="three"),
                asked("get", "secrets"),
                asked("list", "secrets"),
            ],
            id="names",
        ),
        pytest.param(
            rule("*", "configmaps", names="one"),
            [asked("get", "configmaps", name="one"), asked("list", "configmaps", name="one")],
            [asked("list", "configmaps"), asked("create", "configmaps")],
            id="names and lists",
        ),
        pytest.param(
            rule("get", "pods/log"),
            [asked("get", "pods/log", name="a")],
            [asked("get", "pods", name="a"), asked("get", "pods/status", name="a")],
            id="a subresource",
        ),
        pytest.param(
            rule("create", "pods"),
            [asked("create", "pods")],
            [asked("create", "pods/exec", name="a"), asked("create", "pods/eviction", name="a")],
            id="no subresource by itself",
        ),
        pytest.param(
            rule("update", "*/scale", "*"),
            [
                asked("update", "deployments/scale", group="apps", name="a"),
                asked("update", "things/scale", group="example.com", name="a"),
            ],
            [asked("update", "deployments", group="apps"), asked("update", "deployments/status")],
            id="one subresource of all",
        ),
        pytest.param(
            rule("get", "*"),
            [asked("get", "pods"), asked("get", "pods/log"), asked("get", "anything")],
            [asked("get", "deployments", group="apps"), asked("list", "pods")],
            id="all resources of a group",
        ),
        pytest.param(
            rule("get", "pods", "*"),
            [asked("get", "pods"), asked("get", "pods", group="metrics.k8s.io")],
            [asked("get", "nodes", group="metrics.k8s.io")],
            id="all groups",
        ),
        pytest.param(
            rule("*", "deployments", "apps"),
            [
                asked("get", "deployments", group="apps"),
                asked("juggle", "deployments", group="apps"),
            ],
            [asked("get", "deployments"), asked("get", "deployments/scale", group="apps")],
            id="all verbs",
        ),
        pytest.param(
            rule("get", "pods/*"),
            [],
            [asked("get", "pods/log", name="a"), asked("get", "pods", name="a")],
            id="a star after a slash means nothing",
        ),
    ],
)
def test_rules_allow_matching_requests_only(
    admin: Client,
    grants: Grants,
    namespace: str,
    given: Obj,
    allowed: list[Asked],
    refused: list[Asked],
) -> None:
    who = unique("user")
    sign = rule("get", "signs", "example.com")
    grants.here(user(who), given, sign)
    grants.wait(who, namespace=namespace, verb="get", resource="signs", group="example.com")
    assert [q for q in allowed if not outcome(admin, who, namespace, q)] == []
    assert [q for q in refused if outcome(admin, who, namespace, q)] == []
    assert [q for q in allowed if outcome(admin, who, "default", q)] == []


def test_rules_allow_matching_non_resource_urls_only(
    admin: Client, clients: Clients, grants: Grants
) -> None:
    who = unique("user")
    paths = {"verbs": ["get"], "nonResourceURLs": ["/metrics", "/logs/*"]}
    grants.everywhere(user(who), paths)
    grants.wait(who, path="/metrics", verb="get")
    assert review(admin, who, path="/logs/a/b", verb="get")
    for refused in ("/metrics/slis", "/metric", "/logs"):
        assert not review(admin, who, path=refused, verb="get"), refused
    assert not review(admin, who, path="/metrics", verb="post")
    assert clients.user(who).get("/logs/none").status != 403
    assert clients.user(who).get("/debug/none").status == 403


def test_a_role_binding_grants_a_cluster_role_in_its_namespace(
    admin: Client, clients: Clients, grants: Grants, namespace: str
) -> None:
    who = unique("user")
    role = grants.cluster_role(rule("list", "pods nodes"))
    grants.bind_here(user(who), role_ref("ClusterRole", role))
    grants.wait(who, namespace=namespace, verb="list", resource="pods")
    client = clients.user(who)
    assert client.get(path(namespace, "pods")).status == 200
    assert client.get(path("default", "pods")).status == 403
    assert client.get("/api/v1/pods").status == 403
    assert client.get("/api/v1/nodes").status == 403


def test_a_cluster_role_binding_grants_in_all_namespaces(
    clients: Clients, grants: Grants, namespace: str
) -> None:
    who = unique("user")
    grants.everywhere(user(who), rule("list", "pods nodes"))
    grants.wait(who, verb="list", resource="nodes")
    client = clients.user(who)
    for where in (path(namespace, "pods"), path("absent", "pods"), "/api/v1/pods", "/api/v1/nodes"):
        assert client.get(where).status == 200, where


def test_permissions_can_be_granted_to_groups(
    clients: Clients, grants: Grants, namespace: str
) -> None:
    team = unique("team")
    grants.here(group(team), rule("list", "pods"))
    grants.wait("x", [team], namespace=namespace, verb="list", resource="pods")
    assert clients.user("ann", "other", team).get(path(namespace, "pods")).status == 200
    assert clients.user("ann", "other").get(path(namespace, "pods")).status == 403
    assert clients.user(team).get(path(namespace, "pods")).status == 403


def test_permissions_can_be_granted_to_service_accounts(
    admin: Client, grants: Grants, namespace: str
) -> None:
    name = unique("robot")
    grants.here(service_account("default", name), rule("list", "pods"))
    question = {"namespace": namespace, "verb": "list", "resource": "pods"}
    grants.wait(f"system:serviceaccount:default:{name}", **question)
    assert not review(admin, f"system:serviceaccount:{namespace}:{name}", **question)
    assert not review(admin, name, **question)


def test_permissions_can_be_granted_to_all_service_accounts_of_a_namespace(
    admin: Client, grants: Grants, namespace: str
) -> None:
    everybody = f"system:serviceaccounts:{namespace}"
    grants.here(group(everybody), rule("list", "pods"))
    grants.wait("x", [everybody], namespace=namespace, verb="list", resource="pods")


def test_deleting_a_binding_revokes_its_permissions(
    admin: Client, grants: Grants, namespace: str
) -> None:
    who = unique("user")
    role = grants.cluster_role(rule("list", "pods"))
    binding = grants.bind_here(user(who), role_ref("ClusterRole", role))
    question = {"namespace": namespace, "verb": "list", "resource": "pods"}
    grants.wait(who, **question)
    where = path(namespace, "rolebindings", binding, group="rbac.authorization.k8s.io/v1")
    admin.delete(where).ok()
    eventually(lambda: not review(admin, who, **question), "the right is gone")


def test_a_binding_to_a_missing_role_grants_nothing(
    admin: Client, clients: Clients, grants: Grants, namespace: str
) -> None:
    who = unique("user")
    grants.bind_here(user(who), role_ref("ClusterRole", "absent"))
    assert not review(admin, who, namespace=namespace, verb="list", resource="pods")
    assert clients.user(who).get(path(namespace, "pods")).status == 403


def test_the_role_of_a_binding_is_immutable(admin: Client, grants: Grants, namespace: str) -> None:
    name = grants.bind_here(user("ann"), role_ref("ClusterRole", "view"))
    where = path(namespace, "rolebindings", name, group="rbac.authorization.k8s.io/v1")
    changed = admin.get(where).ok() | {"roleRef": role_ref("ClusterRole", "edit")}
    answer = admin.put(where, changed)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.json["details"]["causes"][0]["field"] == "roleRef"
