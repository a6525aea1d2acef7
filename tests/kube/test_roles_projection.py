"""Roles and bindings of all levels."""

import pytest

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLES,
    GVR,
    ROLE_BINDINGS,
    ROLES,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
)
from tests.kube.projecting import projected

RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}


@pytest.mark.parametrize("gvr", [ROLES, CLUSTER_ROLES, GLOBAL_ROLES, WORKSPACE_ROLES])
def test_rules_are_counted(gvr: GVR) -> None:
    assert projected(gvr, rules=[RULE, RULE]).rules == 2
    assert projected(gvr, rules=None).rules == 0
    assert projected(gvr).rules == 0


def test_aggregated_role_is_recognized() -> None:
    aggregation = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    assert projected(CLUSTER_ROLES, aggregationRule=aggregation).aggregated
    assert not projected(CLUSTER_ROLES, aggregationRule=None).aggregated


def test_descriptive_annotations_of_a_role_are_kept() -> None:
    found = projected(
        WORKSPACE_ROLES,
        {
            "labels": {"kubesphere.io/workspace": "acme"},
            "annotations": {
                "kubesphere.io/alias-name": "Testers",
                "kubesphere.io/description": "may look",
                "kubesphere.io/creator": "alice",
            },
        },
    )
    assert (found.alias, found.description, found.creator) == ("Testers", "may look", "alice")
    assert (found.workspace, found.template) == ("acme", False)


def test_hidden_template_is_a_template() -> None:
    for value in ("true", "false"):
        labels = {"iam.kubesphere.io/role-template": value}
        assert projected(GLOBAL_ROLES, {"labels": labels}).template


SUBJECTS = [
    {"kind": "User", "name": "alice"},
    {"kind": "ServiceAccount", "name": "robot", "namespace": "ci"},
    {"kind": "Group", "name": "developers"},
    {"kind": "User", "name": "bob"},
    {"kind": "Robot", "name": "r2"},
    {"kind": "Group", "name": None},
]


@pytest.mark.parametrize("gvr", [ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS, WORKSPACE_ROLE_BINDINGS])
def test_subjects_are_separated_by_kind(gvr: GVR) -> None:
    found = projected(
        gvr,
        {"labels": {"kubesphere.io/workspace": "acme"}},
        roleRef={"kind": "ClusterRole", "name": "view"},
        subjects=SUBJECTS,
    )
    assert (found.role_kind, found.role, found.workspace) == ("ClusterRole", "view", "acme")
    assert found.users == ("alice", "bob")
    assert found.groups == ("developers", "")
    assert found.service_accounts == ("ci/robot",)
    assert found.others == ("Robot/r2",)
    assert found.subjects == ("alice", "bob", "developers", "", "ci/robot", "Robot/r2")


def test_binding_without_subjects_is_accepted() -> None:
    found = projected(ROLE_BINDINGS, roleRef=None, subjects=None)
    assert (found.role, found.users, found.groups) == ("", (), ())
