"""Permissions in a workspace that Kubernetes RBAC cannot express.

A workspace is not a namespace, so RBAC cannot allow a user to create a project in it or to
invite a member. This module evaluates the rules of the workspace's roles as kube-apiserver
evaluates a Role, and the rules of platform roles, which apply in every workspace.

Guarantees:
- Fails closed: roles that are not loaded or may be out of date allow nothing.
- A user who may change the workspace's template cluster-wide has all permissions in the
  workspace.
- Users cannot grant permissions that they don't have (`holds`).
"""

from dataclasses import dataclass
from typing import Any

from console.kube.gvr import (
    GVR,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    Key,
)
from console.kube.host_runtime import get_runtime
from console.kube.indexes import indexes_of
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.projections.roles import Binding, Role
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.permissions import Denied
from rbac.escalation_check import covers
from rbac.process_clusters import get_role_levels
from rbac.projection import IAM, TENANT, resource_rules
from rbac.rules import AccessQuestion, Rule, Rules, any_allows, parse_rules

#: Resource names of the operations in rules, as in KubeSphere's role templates.
MEMBERS = GVR(IAM, "v1alpha2", "workspacemembers")
DEPARTMENTS = GVR(IAM, "v1alpha2", "groups")
PROJECTS = GVR("", "v1", "namespaces")
WORKSPACE = GVR(TENANT, "v1alpha1", "workspaces")
#: Saved templates. The role templates for app templates include them.
TEMPLATES = GVR("application.kubesphere.io", "v1alpha1", "helmapplications")


@dataclass(frozen=True, slots=True)
class WorkspaceRights:
    """A viewer's current permissions in one workspace. Don't store this object.

    `own` contains the rules of the workspace's roles. `rules` also contains the rules of
    platform roles.
    """

    access: Access
    workspace: str
    rules: Rules
    platform: bool
    own: Rules = ()

    def is_allowed(self, verb: str, about: GVR) -> bool:
        return self.platform or any_allows(
            self.rules, AccessQuestion(verb, about.group, about.resource)
        )

    def is_allowed_by_platform_only(self, verb: str, about: GVR) -> bool:
        """Return True if only a platform role allows the operation."""
        by_own = any_allows(self.own, AccessQuestion(verb, about.group, about.resource))
        return self.is_allowed(verb, about) and not (self.platform or by_own)

    def require(self, verb: str, about: GVR) -> None:
        """Raise `Denied` if the operation is not allowed."""
        if not self.is_allowed(verb, about):
            raise Denied(verb, about)

    def holds(self, rules: Rules) -> bool:
        """Return True if the viewer has every permission in these rules. Non-resource URLs have no
        effect in a workspace.
        """
        return self.platform or covers(self.rules, resource_rules(rules))


def may_see_quota(access: Access, workspace: str) -> bool:
    """Return True if the viewer may see the workspace's quota and usage: users with a role in the
    workspace, because they share the quota, and users who may read the quota object. Permission
    to view the workspace is not sufficient.
    """
    has_role = bool(workspace_rights(access, workspace).own)
    return has_role or access.can("get", WORKSPACE_QUOTAS, name=workspace)


def workspace_rights(access: Access, workspace: str) -> WorkspaceRights:
    platform = access.can("update", WORKSPACE_TEMPLATES, name=workspace)
    own = _rules_of(access, workspace)
    rules = own + get_role_levels().platform_rules(access.identity)
    return WorkspaceRights(access, workspace, rules, platform, own)


def rules_of_role(workspace: str, name: str) -> Rules | None:
    """Return the rules of the role, or None if it does not belong to the workspace."""
    entry: Entry[Role] | None = get_runtime().informer(WORKSPACE_ROLES).store.get(Key("", name))
    if entry is None or entry.projection.workspace != workspace or entry.projection.deleted:
        return None
    return parse_rules(entry.original().get("rules"))


def objects_labelled(gvr: GVR, workspace: str) -> tuple[Entry[Any], ...]:
    """Return the objects of a type that have the workspace's label."""
    store = get_runtime().informer(gvr).store
    return indexes_of(store).by_label.get(f"{WORKSPACE_LABEL}={workspace}")


def roles_of(workspace: str) -> list[Role]:
    """Return the workspace's roles, sorted by name."""
    found = objects_labelled(WORKSPACE_ROLES, workspace)
    return sorted((entry.projection for entry in found), key=lambda role: role.name)


def bindings_of(workspace: str) -> list[Entry[Binding]]:
    """Return the workspace's role bindings, sorted by name."""
    return sorted(objects_labelled(WORKSPACE_ROLE_BINDINGS, workspace), key=lambda entry: entry.key)


def _rules_of(access: Access, workspace: str) -> Rules:
    if access.rights_version() is None:
        return ()
    runtime = get_runtime()
    for gvr in (WORKSPACE_ROLES, WORKSPACE_ROLE_BINDINGS):
        freshness = runtime.informer(gvr).freshness
        if not freshness.synced or freshness.stale_since is not None:
            return ()
    identity = access.identity
    found: list[Rule] = []
    for entry in bindings_of(workspace):
        binding = entry.projection
        named = identity.name in binding.users or set(identity.groups) & set(binding.groups)
        if named and binding.deleted is None and binding.role_kind in ("WorkspaceRole", ""):
            found += rules_of_role(workspace, binding.role) or ()
    return tuple(found)
