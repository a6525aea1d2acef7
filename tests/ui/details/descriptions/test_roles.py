"""The pages of roles and role bindings."""

from typing import Any

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GVR,
    ROLE_BINDINGS,
    Key,
)
from console.ui.core.access import Access
from console.ui.core.registry import kinds
from console.ui.core.subject import Subject
from tests.support.informers import preloaded
from tests.ui.details.descriptions.described import Obj, described, objects, panel_of, text_of
from tests.ui.support import FakeAccess, admin

ROLES = objects("""
metadata: {name: view, labels: {to-edit: 'true'}}
rules: [{apiGroups: [''], resources: [pods], verbs: [get, list]}]
---
metadata: {name: edit, labels: {to-admin: 'true'}}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {to-edit: 'true'}}]}
rules:
- {apiGroups: ['', apps], resources: [pods, pods/scale], resourceNames: [a, b], verbs: ['*']}
- {nonResourceURLs: [/healthz], verbs: [get]}
---
metadata: {name: admin}
aggregationRule: {clusterRoleSelectors: [{matchExpressions: [{key: to-admin, operator: Exists}]}]}
---
metadata: {name: other}
""")
BINDING = objects("""
metadata: {name: admins, namespace: shop}
roleRef: {kind: ClusterRole, name: admin}
subjects:
- {kind: User, name: jane}
- {kind: ServiceAccount, name: ci, namespace: build}
---
metadata: {name: everywhere}
roleRef: {kind: ClusterRole, name: edit}
subjects: [{kind: Group, name: editors}]
""")


def related(name: str, panel_id: str, tab: int, access: Access | None = None) -> str:
    found: dict[GVR, list[Obj]] = {
        CLUSTER_ROLES: list(ROLES.values()),
        ROLE_BINDINGS: [BINDING["admins"]],
        CLUSTER_ROLE_BINDINGS: [BINDING["everywhere"]],
    }
    informers: dict[GVR, Any] = {gvr: preloaded(gvr, given) for gvr, given in found.items()}
    key, kind = Key("", name), kinds.by_type(CLUSTER_ROLES)
    entry = informers[CLUSTER_ROLES].store.get(key)
    assert kind is not None
    subject = Subject(kind, key, entry, access or admin(), informers, "host")
    return text_of(str(panel_of(CLUSTER_ROLES, panel_id, tab).html(subject)))


def test_rules_are_shown_as_a_table() -> None:
    text = described(CLUSTER_ROLES, ROLES["edit"])
    assert "Resources Resource names Non-resource URLs Verbs" in text
    assert "pods pods.apps pods/scale pods.apps/scale a b — *" in text
    assert "— — /healthz get" in text
    assert "Aggregates cluster roles with to-edit=true" in text


def test_large_rules_are_cut() -> None:
    groups = [f"g{n}" for n in range(1000)]
    rule = {"apiGroups": groups, "resources": ["a"] * 1000, "verbs": ["get"]}
    obj = {"metadata": {"name": "r", "uid": "u"}, "rules": [rule] * 1000}
    text = described(CLUSTER_ROLES, obj)
    assert "and 999,980 more" in text and text.endswith("and 900 more")


def test_users_through_aggregation_are_listed() -> None:
    text = related("view", "used-by", 1)
    assert "Aggregated by 2 admin edit" in text
    assert "everywhere through edit" in text and "admins shop through admin" in text


def test_users_through_aggregation_are_hidden_without_permission() -> None:
    access = FakeAccess("tenant", list_in=("shop",), delete_in=())
    text = related("view", "used-by", 1, access)
    assert "everywhere" not in text and "edit" not in text


def test_unused_role_has_no_users() -> None:
    assert related("other", "used-by", 1) == "No references found."


def test_aggregated_roles_are_listed() -> None:
    assert related("admin", "aggregated", 0) == "Cluster roles 1 edit"
    assert related("view", "aggregated", 0) == ""


def test_subjects_of_a_binding_are_listed_with_their_project() -> None:
    text = described(ROLE_BINDINGS, BINDING["admins"])
    assert text.startswith("Role ClusterRole/admin")
    assert "User jane — ServiceAccount ci build" in text
