"""Behavior of single kinds beyond the contract."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from django.utils import translation

from console.kinds.clusterroles import origin as cluster_role_origin
from console.kinds.customresourcedefinitions import status_of as definition_status
from console.kinds.globalroles import origin as global_role_origin
from console.kinds.networkpolicies import direction
from console.kinds.users import status_of as user_status
from console.kube.gvr import (
    CLUSTER_ROLES,
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    GLOBAL_ROLES,
    GVR,
    NETWORK_POLICIES,
    PERSISTENT_VOLUMES,
    SERVICES,
    USERS,
    Key,
)
from console.kube.store import Entry
from console.ui.core.registry import kinds
from rbac.builtin import PLATFORM_ROLES
from tests.support.informers import preloaded
from tests.ui.support import FakeAccess

META = {"name": "example", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}


def entry(gvr: GVR, meta: dict[str, Any] | None = None, /, **fields: Any) -> Entry[Any]:
    item = {"metadata": {**META, **(meta or {})}, **fields}
    found = next(iter(preloaded(gvr, [item]).store.snapshot().entries.values()))
    assert isinstance(found, Entry)
    return found


def facts_of(gvr: GVR, found: Entry[Any]) -> dict[str, str]:
    kind = kinds.by_type(gvr)
    assert kind is not None
    with translation.override("en"):
        return {str(label): str(value) for label, value in kind.facts(found)}


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("Active", ("ok", "Active", "")),
        ("Disabled", ("paused", "Disabled", "")),
        ("AuthLimitExceeded", ("warn", "Locked", "AuthLimitExceeded")),
        ("", ("progress", "Waiting", "Pending")),
        ("Dreaming", ("unknown", "Unknown", "Dreaming")),
    ],
)
def test_account_status_is_shown(state: str, expected: tuple[str, str, str]) -> None:
    found = user_status(entry(USERS, status={"state": state}).projection)
    assert (found.severity.value, found.word, found.reason) == expected


def test_deleted_account_is_terminating() -> None:
    gone = {"deletionTimestamp": "2026-01-01T01:00:00Z"}
    assert user_status(entry(USERS, gone).projection).word == "Terminating"


@pytest.mark.parametrize("gvr", [USERS, CUSTOM_RESOURCE_DEFINITIONS])
def test_severity_filter_matches_the_displayed_severity(gvr: GVR) -> None:
    kind = kinds.by_type(gvr)
    assert kind is not None
    found = entry(gvr, status={"state": "", "conditions": []})
    status = next(item for item in kind.every_filter if item.param == "status")
    shown = kind.status(found)
    assert shown is not None
    for value in ("progress", "ok", "error"):
        assert status.test((value,))(found) is (shown.severity.value == value)


def may_delete(gvr: GVR, viewer: str, name: str) -> bool:
    kind = kinds.by_type(gvr)
    assert kind is not None
    action = kind.actions_by_name["delete"]
    return action.is_allowed(FakeAccess(viewer), gvr, Key("", name))


def test_users_cannot_delete_their_own_account() -> None:
    assert may_delete(USERS, "alice", "bob")
    assert not may_delete(USERS, "alice", "alice")


def test_built_in_platform_roles_cannot_be_deleted() -> None:
    kind = kinds.by_type(GLOBAL_ROLES)
    assert kind is not None
    delete = kind.actions_by_name["delete"]
    assert delete.applicable(entry(GLOBAL_ROLES, {"name": "shopkeepers"}))
    assert not any(
        delete.applicable(entry(GLOBAL_ROLES, {"name": name})) for name in PLATFORM_ROLES
    )


def condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message}


DEFINITIONS: list[tuple[list[dict[str, str]], str, str]] = [
    ([], "progress", "Installing"),
    ([condition("Established", "True")], "ok", "Established"),
    (
        [condition("NamesAccepted", "False", "PluralConflict"), condition("Established", "True")],
        "error",
        "Name conflict",
    ),
]


@pytest.mark.parametrize(("conditions", "severity", "word"), DEFINITIONS)
def test_definition_status_shows_whether_it_is_served(
    conditions: list[dict[str, str]], severity: str, word: str
) -> None:
    found = entry(CUSTOM_RESOURCE_DEFINITIONS, status={"conditions": conditions})
    status = definition_status(found.projection)
    assert (status.severity.value, status.word) == (severity, word)


def test_deleting_a_definition_warns_that_its_objects_are_deleted() -> None:
    spec = {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget"}}
    facts = facts_of(CUSTOM_RESOURCE_DEFINITIONS, entry(CUSTOM_RESOURCE_DEFINITIONS, spec=spec))
    assert facts["Also deleted"] == "all Widget objects in all projects"


@pytest.mark.parametrize(
    ("policy", "data"),
    [("Retain", "kept in the storage system"), ("Delete", "deleted from the storage system")],
)
def test_deleting_a_volume_warns_about_its_data(policy: str, data: str) -> None:
    found = entry(PERSISTENT_VOLUMES, spec={"persistentVolumeReclaimPolicy": policy})
    assert facts_of(PERSISTENT_VOLUMES, found)["Data"] == data


def test_config_map_shows_a_few_keys_and_counts_the_rest() -> None:
    data = {f"k{number:02d}": "canary" for number in range(12)}
    text = facts_of(CONFIG_MAPS, entry(CONFIG_MAPS, data=data))["Keys"]
    assert text.endswith("k09 +2")
    assert "canary" not in text


def test_origin_of_roles_is_shown() -> None:
    built_in = {"labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}
    template = {"labels": {"iam.kubesphere.io/role-template": "true"}}
    origins = [
        cluster_role_origin(entry(CLUSTER_ROLES, meta).projection)
        for meta in (built_in, template, {})
    ]
    assert origins == ["kubernetes", "template", "own"]
    admin = {"name": "platform-admin"}
    origins = [
        global_role_origin(entry(GLOBAL_ROLES, meta).projection) for meta in (admin, template, {})
    ]
    assert origins == ["platform", "template", "own"]


@pytest.mark.parametrize(
    ("types", "expected"),
    [(["Ingress"], "ingress"), (["Egress"], "egress"), (["Ingress", "Egress"], "both")],
)
def test_direction_of_a_network_policy_is_shown(types: list[str], expected: str) -> None:
    found = entry(NETWORK_POLICIES, spec={"policyTypes": types})
    assert direction(found.projection) == expected


def test_policy_that_allows_nothing_sorts_before_one_without_rules() -> None:
    kind = kinds.by_type(NETWORK_POLICIES)
    assert kind is not None
    column = kind.sortable["egress"]
    nothing = entry(NETWORK_POLICIES, spec={"policyTypes": ["Egress"]})
    silent = entry(NETWORK_POLICIES, spec={"policyTypes": ["Ingress"]})
    assert column.sort_key(nothing) < column.sort_key(silent)
    assert (column.value(nothing), column.value(silent)) == ("0", "")


def test_services_are_sorted_numerically_by_ip_address() -> None:
    kind = kinds.by_type(SERVICES)
    assert kind is not None
    column = kind.sortable["cluster_ip"]
    addresses = ["10.96.0.20", "10.96.0.3", "fd00::1", "None", ""]
    entries = [entry(SERVICES, spec={"clusterIP": address}) for address in addresses]
    ordered = [item.projection.cluster_ip for item in sorted(entries, key=column.sort_key)]
    assert ordered == ["10.96.0.3", "10.96.0.20", "fd00::1", "None", ""]


def test_times_of_all_kinds_are_utc() -> None:
    found = entry(SERVICES)
    assert found.key == Key("", "example")
    assert found.projection.created == datetime(2026, 1, 1, tzinfo=UTC)
    assert msgspec.structs.asdict(found.projection)["deleted"] is None
