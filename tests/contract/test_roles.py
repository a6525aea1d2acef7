"""Aggregated cluster roles and the default roles of every cluster."""

import pytest

from tests.contract.cleanup import Cleanup
from tests.contract.client import Client
from tests.contract.grants import Grants, review, role_ref, rule, user
from tests.contract.objects import unique
from tests.controlplane.waiting import eventually


@pytest.fixture
def grants(cleanup: Cleanup, namespace: str) -> Grants:
    return Grants(cleanup, namespace)


def test_aggregated_cluster_roles_combine_rules(
    admin: Client, grants: Grants, cleanup: Cleanup
) -> None:
    label = {unique("example.com/part"): "yes"}
    whole = grants.cluster_role(aggregationRule={"clusterRoleSelectors": [{"matchLabels": label}]})
    where = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    assert not admin.get(f"{where}/{whole}").ok()["rules"]
    for resource in ("pods", "secrets"):
        about = {"name": unique("contract"), "labels": label}
        cleanup.create(where, {"metadata": about, "rules": [rule("get", resource)]})
    found = eventually(
        lambda: len(rules := admin.get(f"{where}/{whole}").ok()["rules"] or []) == 2 and rules,
        "the rules are added up",
    )
    assert found
    assert sorted(r["resources"][0] for r in found) == ["pods", "secrets"]


@pytest.mark.parametrize(
    ("role", "allowed", "refused"),
    [
        (
            "view",
            [("list", "pods", ""), ("get", "pods/log", ""), ("watch", "deployments", "apps")],
            [("get", "secrets", ""), ("delete", "pods", ""), ("create", "pods/exec", "")],
        ),
        (
            "edit",
            [
                ("create", "deployments", "apps"),
                ("get", "secrets", ""),
                ("create", "pods/exec", ""),
            ],
            [("create", "roles", "rbac.authorization.k8s.io"), ("update", "resourcequotas", "")],
        ),
        (
            "admin",
            [("create", "rolebindings", "rbac.authorization.k8s.io"), ("delete", "secrets", "")],
            [("update", "resourcequotas", ""), ("delete", "nodes", "")],
        ),
        ("cluster-admin", [("juggle", "anything", "example.com"), ("delete", "nodes", "")], []),
    ],
)
def test_the_default_roles_exist(
    admin: Client,
    grants: Grants,
    namespace: str,
    role: str,
    allowed: list[tuple[str, str, str]],
    refused: list[tuple[str, str, str]],
) -> None:
    who = unique("user")
    grants.bind_here(user(who), role_ref("ClusterRole", role))
    grants.wait(who, namespace=namespace, verb="list", resource="pods")

    def may(verb: str, resource: str, api_group: str) -> bool:
        plural, _, subresource = resource.partition("/")
        more = {"resource": plural, "subresource": subresource, "group": api_group}
        return review(admin, who, namespace=namespace, verb=verb, **more)

    for verb, resource, api_group in allowed:
        assert may(verb, resource, api_group), resource
    for verb, resource, api_group in refused:
        assert not may(verb, resource, api_group), resource
