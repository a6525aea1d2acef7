"""Workspace and project roles in a cluster with valid and invalid KubeSphere RoleBases."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import (
    NAMESPACES,
    ROLE_BASES,
    ROLES,
    WORKSPACE_ROLES,
)
from tests.rbac.objects import rule, user
from tests.workspaces.conftest import Tenancy
from tests.workspaces.users import OF_PROJECTS, apply, base, delete, is_gone, read, template, until
from workspaces.builtin_roles import PROJECT_RULES, WORKSPACE_RULES

READS = [rule("get list watch", "pods services", "core")]
WORK = [*READS, rule("*", "*", "apps batch")]


#: RoleBases whose rules must not appear in a role.
BAD = {
    "bad-words": base("bad-words", "Role", "admin", "everything", **OF_PROJECTS),
    "bad-paths": base("bad-paths", "Role", "admin", [rule("*", "", paths="*")], **OF_PROJECTS),
    "bad-verbs": base("bad-verbs", "Role", "admin", [{"verbs": 3, "resources": {}}], **OF_PROJECTS),
    "bad-rules": base("bad-rules", "WorkspaceRole", "regular", [[]]),
    "devops": base("devops", "Role", "viewer", [], **{"scope.kubesphere.io/devops": ""}),
    "other": base("other", "Role", "auditor", READS, **OF_PROJECTS),
    "kind": base("kind", "ClusterRole", "viewer", READS, **OF_PROJECTS),
    "z-second": base("z-second", "Role", "operator", READS, **OF_PROJECTS),
}


@pytest.fixture(scope="module", autouse=True)
def bases(tenancy: Tenancy) -> Iterator[None]:
    apply(
        tenancy,
        user("bea"),
        base("operator", "Role", "operator", WORK, **OF_PROJECTS),
        base("workspace-viewer", "WorkspaceRole", "viewer", READS),
        *BAD.values(),
        template("seeded", "bea"),
    )
    yield
    for item in tenancy.cluster.api.get(ROLE_BASES.path()).json()["items"]:
        delete(tenancy, ROLE_BASES, item["metadata"]["name"])


def rules_of(tenancy: Tenancy, role: str, project: str = "") -> Any:
    found = read(tenancy, ROLES if project else WORKSPACE_ROLES, role, project)
    return found and found.get("rules")


async def project(tenancy: Tenancy, name: str) -> None:
    labels = {"kubesphere.io/workspace": "seeded"}
    metadata = {"name": name, "labels": labels, "annotations": {"quarterdeck.io/preparing": "true"}}
    apply(tenancy, {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})

    def ready() -> bool:
        notes = read(tenancy, NAMESPACES, name)["metadata"].get("annotations") or {}
        return "quarterdeck.io/preparing" not in notes

    await until(ready, "the project")


async def test_new_projects_get_the_rules_of_valid_role_bases(tenancy: Tenancy) -> None:
    await project(tenancy, "seed-one")
    assert rules_of(tenancy, "operator", "seed-one") == WORK
    for role in ("admin", "viewer"):
        assert rules_of(tenancy, role, "seed-one") == PROJECT_RULES[role]
    assert is_gone(tenancy, ROLES, "auditor", "seed-one")
    assert rules_of(tenancy, "seeded-viewer") == READS
    for role in ("admin", "regular"):
        assert rules_of(tenancy, f"seeded-{role}") == WORKSPACE_RULES[role]


async def test_roles_follow_role_bases_and_fall_back_to_defaults(tenancy: Tenancy) -> None:
    await project(tenancy, "seed-two")
    less = [rule("get", "pods", "core")]
    apply(tenancy, base("operator", "Role", "operator", less, **OF_PROJECTS))
    await until(lambda: rules_of(tenancy, "operator", "seed-two") == less, "the change")
    # An empty rule list is valid, and is written once.
    apply(tenancy, base("operator", "Role", "operator", [], **OF_PROJECTS))
    await until(lambda: not rules_of(tenancy, "operator", "seed-two"), "nothing")
    version = read(tenancy, ROLES, "operator", "seed-two")["metadata"]["resourceVersion"]
    await project(tenancy, "seed-three")
    kept = read(tenancy, ROLES, "operator", "seed-two")["metadata"]["resourceVersion"]
    assert kept == version
    for name in ("operator", "z-second"):
        delete(tenancy, ROLE_BASES, name)
    ours = PROJECT_RULES["operator"]
    await until(lambda: rules_of(tenancy, "operator", "seed-two") == ours, "ours")


async def test_writing_role_bases_requires_permission_to_grant_everything(tenancy: Tenancy) -> None:
    """Otherwise write access to RoleBases would amount to administration of all projects."""
    everything = ("--verb=*", "--resource=rolebases.iam.kubesphere.io")
    user = ("--clusterrole=seeders", "--user=bea")
    for kind, arguments in (("clusterrole", everything), ("clusterrolebinding", user)):
        done = tenancy.cluster.kubectl("create", kind, "seeders", *arguments)
        assert done.returncode == 0, done.stderr
    body = json.dumps(base("grab", "Role", "viewer", [rule("*", "*", "*")], **OF_PROJECTS))

    def refused() -> bool:
        arguments = ("create", "--dry-run=server", "-f", "-", "--as=bea")
        error = tenancy.cluster.kubectl(*arguments, input=body).stderr
        return "by those who may give every right" in error

    await until(refused, "the policy")
    # Applies to patches and deletions too.
    patch = ("patch", "rolebases", "kind", "--type=merge", "-p", '{"role":{"rules":[]}}')
    for change in (patch, ("delete", "rolebases", "kind")):
        assert "Forbidden" in tenancy.cluster.kubectl(*change, "--as=bea").stderr
