"""KubeSphere's workspaces, departments and login records."""

from typing import Any

import pytest

from console.kube.gvr import (
    GROUP_BINDINGS,
    GROUPS,
    LOGIN_RECORDS,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from tests.kube.projecting import DELETED, projected, said

NOTES = {
    "kubesphere.io/alias-name": "Acme",
    "kubesphere.io/description": "the shop",
    "kubesphere.io/creator": "admin",
}


def test_workspace_manager_and_description_are_kept() -> None:
    found = projected(
        WORKSPACES, {"annotations": NOTES}, spec={"manager": "alice", "networkIsolation": True}
    )
    assert (found.manager, found.isolated) == ("alice", True)
    assert (found.alias, found.description, found.creator) == ("Acme", "the shop", "admin")
    assert said(found) == ("ok", "Active", "")
    assert said(projected(WORKSPACES, DELETED, spec=None)) == ("ending", "Terminating", "")
    assert projected(WORKSPACES, spec=None).isolated is None


PLACEMENTS: list[tuple[dict[str, Any] | None, tuple[str, ...], bool]] = [
    ({"clusters": [{"name": "host"}, {"name": "edge"}, {}]}, ("host", "edge"), False),
    ({"clusterSelector": {}}, (), True),
    ({"clusters": [{"name": "host"}], "clusterSelector": {}}, ("host",), False),
    ({"clusters": []}, (), False),
    (None, (), False),
]


@pytest.mark.parametrize(("placement", "clusters", "everywhere"), PLACEMENTS)
def test_placement_of_a_workspace_is_read(
    placement: dict[str, Any] | None, clusters: tuple[str, ...], everywhere: bool
) -> None:
    spec = {"template": {"spec": {"manager": "alice"}}, "placement": placement}
    found = projected(WORKSPACE_TEMPLATES, spec=spec)
    assert (found.clusters, found.everywhere, found.manager) == (clusters, everywhere, "alice")


def test_empty_template_is_accepted() -> None:
    for spec in (None, {}, {"template": None}, {"template": {"spec": None}}):
        assert projected(WORKSPACE_TEMPLATES, spec=spec).manager == ""


def test_department_title_is_its_alias() -> None:
    meta = {
        "generateName": "research",
        "labels": {
            "kubesphere.io/workspace": "acme",
            "iam.kubesphere.io/group-parent": "acme-abc12",
        },
    }
    found = projected(GROUPS, meta)
    assert (found.title, found.workspace, found.parent) == ("research", "acme", "acme-abc12")
    assert projected(GROUPS, {**meta, "annotations": NOTES}).title == "Acme"
    assert projected(GROUPS).title == ""


def test_users_of_a_department_are_listed() -> None:
    labels = {"kubesphere.io/workspace": "acme"}
    found = projected(
        GROUP_BINDINGS,
        {"labels": labels},
        groupRef={"kind": "Group", "name": "research-x"},
        users=["alice"],
    )
    assert (found.group, found.users, found.workspace) == ("research-x", ("alice",), "acme")
    assert projected(GROUP_BINDINGS, groupRef=None, users=None).users == ()


def test_login_record_is_kept() -> None:
    spec = {
        "type": "Token",
        "provider": "ldap",
        "sourceIP": "192.0.2.8",
        "userAgent": "x" * 5000,
        "success": False,
        "reason": "incorrect password",
    }
    found = projected(LOGIN_RECORDS, {"labels": {"iam.kubesphere.io/user-ref": "bob"}}, spec=spec)
    assert said(found) == ("warn", "Failed", "incorrect password")
    assert (found.user, found.provider, found.source_ip) == ("bob", "ldap", "192.0.2.8")
    assert len(found.user_agent) < 500
    done = {"success": True, "reason": "authenticated successfully"}
    expected = ("ok", "Succeeded", "authenticated successfully")
    assert said(projected(LOGIN_RECORDS, spec=done)) == expected
