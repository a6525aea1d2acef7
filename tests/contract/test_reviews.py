"""Access reviews."""

import pytest

from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Clients
from tests.contract.grants import Grants, rule, user
from tests.contract.objects import path, unique

_ROOT = "/apis/authorization.k8s.io/v1"
_SELF = f"{_ROOT}/selfsubjectaccessreviews"
_OTHER = f"{_ROOT}/subjectaccessreviews"
_RULES = f"{_ROOT}/selfsubjectrulesreviews"


@pytest.fixture
def who(cleanup: Cleanup, namespace: str) -> str:
    """Return a user who can get and list ConfigMaps and get one Secret."""
    name = unique("user")
    grants = Grants(cleanup, namespace)
    grants.here(user(name), rule("get list", "configmaps"), rule("get", "secrets", names="one"))
    grants.wait(name, namespace=namespace, verb="get", resource="secrets", name="one")
    return name


def about(namespace: str, verb: str, resource: str, **more: str) -> Obj:
    return {
        "resourceAttributes": {
            "namespace": namespace,
            "verb": verb,
            "resource": resource,
            **more,
        }
    }


def allowed(client: Client, where: str, spec: Obj) -> bool:
    status = client.post(where, {"spec": spec}).ok()["status"]
    return bool(status["allowed"])


def test_users_can_review_their_own_access(clients: Clients, who: str, namespace: str) -> None:
    client = clients.user(who)
    assert allowed(client, _SELF, about(namespace, "list", "configmaps"))
    assert not allowed(client, _SELF, about(namespace, "create", "configmaps"))
    assert not allowed(client, _SELF, about("default", "list", "configmaps"))
    assert allowed(client, _SELF, {"nonResourceAttributes": {"path": "/api", "verb": "get"}})


def test_reviews_match_the_result_of_requests(clients: Clients, who: str, namespace: str) -> None:
    client = clients.user(who)
    for resource, name in (
        ("configmaps", ""),
        ("configmaps", "x"),
        ("secrets", ""),
        ("secrets", "one"),
    ):
        verb = "get" if name else "list"
        said = allowed(client, _SELF, about(namespace, verb, resource, name=name))
        assert said is (client.get(path(namespace, resource, name)).status != 403)


def test_a_review_reports_the_reason(admin: Client, who: str, namespace: str) -> None:
    spec = {"user": who, **about(namespace, "list", "configmaps")}
    status = admin.post(_OTHER, {"spec": spec}).ok()["status"]
    assert status["allowed"] is True
    assert status["reason"].startswith("RBAC: allowed by RoleBinding ")
    assert f'to User "{who}"' in status["reason"]


def test_reviews_of_other_users_require_permission(
    clients: Clients, who: str, namespace: str
) -> None:
    spec = {"user": who, **about(namespace, "list", "configmaps")}
    answer = clients.user(who).post(_OTHER, {"spec": spec})
    assert (answer.status, answer.reason) == (403, "Forbidden")


def test_a_local_review_is_limited_to_its_namespace(
    admin: Client, who: str, namespace: str
) -> None:
    where = path(namespace, "localsubjectaccessreviews", group="authorization.k8s.io/v1")
    spec = {"user": who, **about(namespace, "list", "configmaps")}
    body = {"metadata": {"namespace": namespace}, "spec": spec}
    assert admin.post(where, body).ok()["status"]["allowed"] is True


@pytest.mark.parametrize(
    "spec",
    [
        {"user": "ann"},
        {"resourceAttributes": {"verb": "get"}},
        {"user": "ann", "resourceAttributes": {}, "nonResourceAttributes": {"path": "/x"}},
    ],
    ids=["about nothing", "of nobody", "about two things"],
)
def test_incomplete_reviews_are_rejected(admin: Client, spec: Obj) -> None:
    answer = admin.post(_OTHER, {"spec": spec})
    assert (answer.status, answer.reason) == (422, "Invalid")


def test_a_rules_review_lists_the_users_rules(clients: Clients, who: str, namespace: str) -> None:
    answer = clients.user(who).post(_RULES, {"spec": {"namespace": namespace}})
    status = answer.ok()["status"]
    assert status["incomplete"] is False
    mine = {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"]}
    assert mine in status["resourceRules"]
    one = {"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["one"]}
    assert one in status["resourceRules"]
    assert any("/version" in rule["nonResourceURLs"] for rule in status["nonResourceRules"])


def test_a_rules_review_omits_rules_of_other_namespaces(clients: Clients, who: str) -> None:
    answer = clients.user(who).post(_RULES, {"spec": {"namespace": "default"}})
    resources = [r for rule in answer.ok()["status"]["resourceRules"] for r in rule["resources"]]
    assert "configmaps" not in resources


def test_a_rules_review_requires_a_namespace(admin: Client) -> None:
    assert admin.post(_RULES, {"spec": {}}).status == 400


def test_an_empty_resource_name_allows_lists_but_no_object(
    clients: Clients, cleanup: Cleanup, namespace: str
) -> None:
    name, grants = unique("nameless"), Grants(cleanup, namespace)
    grants.here(user(name), {**rule("get list watch", "secrets"), "resourceNames": [""]})
    grants.wait(name, namespace=namespace, verb="list", resource="secrets")
    client = clients.user(name)
    assert client.get(path(namespace, "secrets")).status == 200
    assert client.get(path(namespace, "secrets", "any")).status == 403
    assert client.get(path("default", "secrets")).status == 403
    assert not allowed(client, _SELF, about(namespace, "get", "secrets", name="any"))
