"""Manifests of the objects in a workspace and its projects."""

from typing import Any

from console.kube.apply import Manifest
from console.kube.gvr import WORKSPACES
from console.kube.projections.namespace import WORKSPACE_LABEL, Namespace
from console.kube.projections.roles import (
    ALIAS_ANNOTATION,
    CREATOR_ANNOTATION,
    DESCRIPTION_ANNOTATION,
)
from console.kube.projections.tenancy import USER_LABEL
from rbac.levels import TYPES, Level, subject_manifest
from rbac.names import member_name
from rbac.projection import LABELS
from workspaces.builtin_roles import ADMIN, workspace_role_name
from workspaces.names import ISOLATION, owner_of, workspace_metadata

_FOR_PEOPLE = (ALIAS_ANNOTATION, DESCRIPTION_ANNOTATION, CREATOR_ANNOTATION)
#: Defaults for containers without resource requests and limits, as in KubeSphere's console. With a
#: quota on limits, kube-apiserver would reject a container without limits.
DEFAULT_LIMITS: Manifest = {
    "type": "Container",
    "default": {"cpu": "500m", "memory": "500Mi"},
    "defaultRequest": {"cpu": "10m", "memory": "10Mi"},
}


def workspace_from_template(template: dict[str, Any]) -> Manifest:
    """Return the Workspace for a WorkspaceTemplate."""
    meta, inner = template["metadata"], (template.get("spec") or {}).get("template") or {}
    labels = (inner.get("metadata") or {}).get("labels") or {}
    notes = meta.get("annotations") or {}
    spec = {k: v for k, v in (inner.get("spec") or {}).items() if v is not None}
    return {
        "apiVersion": WORKSPACES.group_version,
        "kind": "Workspace",
        "metadata": {
            "name": meta["name"],
            "labels": {**labels, **LABELS},
            "annotations": {name: notes[name] for name in _FOR_PEOPLE if name in notes},
        },
        "spec": spec,
    }


def workspace_member(workspace: str, uid: str, role: str, user: str, *, name: str = "") -> Manifest:
    """Return a user's WorkspaceRoleBinding. `role` is the full name of the WorkspaceRole."""
    meta = workspace_metadata(
        name or member_name(workspace, user), workspace, uid, **{USER_LABEL: user}
    )
    return TYPES[Level.WORKSPACE].binding(meta, role, [subject_manifest("User", user)])


def manager_name(workspace: str) -> str:
    """Return the name of the WorkspaceRoleBinding of the workspace's manager."""
    return workspace_role_name(workspace, ADMIN)


def project_member(namespace: str, role: str, user: str) -> Manifest:
    """Return the RoleBinding of a user to one of a project's Roles."""
    labels = {**LABELS, USER_LABEL: user}
    meta = {"name": f"{user}-{role}", "namespace": namespace, "labels": labels}
    return TYPES[Level.PROJECT].binding(meta, role, [subject_manifest("User", user)])


def limit_range(namespace: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": namespace, "namespace": namespace},
        "spec": {"limits": [DEFAULT_LIMITS]},
    }


def isolation(project: Namespace, uid: str, *, by_itself: bool) -> Manifest:
    """Return a NetworkPolicy that allows traffic only from the same workspace or, if `by_itself` is
    set, from the same project.
    """
    peer: Manifest = {"podSelector": {}}
    if not by_itself:
        peer = {"namespaceSelector": {"matchLabels": {WORKSPACE_LABEL: project.workspace}}}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {
            "name": ISOLATION,
            "namespace": project.name,
            "labels": LABELS,
            "ownerReferences": [owner_of(project.workspace, uid)],
        },
        "spec": {
            "podSelector": {},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": [peer]}],
        },
    }
