"""What somebody may do in a workspace that Kubernetes' own rights cannot say.

A workspace is no namespace: nothing in Kubernetes can let somebody make a project in it, or invite a
member. So the rules of the workspace's roles are asked here, as kube-apiserver would ask those of a Role,
and those of the platform's roles, which count in every workspace.

Promises:
- Fails closed: roles that are not known, or may be old, allow nothing.
- Whoever may change the workspace's template in the whole cluster may do everything in the workspace.
- Nobody hands on what they do not hold (`holds`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from console.kube.current import get_runtime
from console.kube.gvr import (
    GVR,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    Key,
)
from console.kube.indexes import indexes_of
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.projections.roles import Binding, Role
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.decisions import Denied
from rbac.current import get_levels
from rbac.projection import IAM, TENANT
from rbac.rules import Question, Rule, Rules, any_allows, parse_rules

#: What the use cases are called in rules, as KubeSphere's role templates have it.
MEMBERS = GVR(IAM, "v1alpha2", "workspacemembers")
DEPARTMENTS = GVR(IAM, "v1alpha2", "groups")
PROJECTS = GVR("", "v1", "namespaces")
ITSELF = GVR(TENANT, "v1alpha1", "workspaces")


@dataclass(frozen=True, slots=True)
class WorkspaceRights:
    """Of one viewer in one workspace, at this moment: never keep it. `own`: by the roles of the workspace
    alone; `rules`: by those of the platform, too."""

    access: Access
    workspace: str
    rules: Rules
    platform: bool
    own: Rules = ()

    @property
    def belongs(self) -> bool:
        return bool(self.own)

    def may(self, verb: str, about: GVR) -> bool:
        return self.platform or any_allows(self.rules, Question(verb, about.group, about.resource))

    def may_from_outside(self, verb: str, about: GVR) -> bool:
        """True if a role of the platform alone says so."""
        by_own = any_allows(self.own, Question(verb, about.group, about.resource))
        return self.may(verb, about) and not (self.platform or by_own)

    def require(self, verb: str, about: GVR) -> None:
        """Raises `Denied`."""
        if not self.may(verb, about):
            raise Denied(verb, about)

    def holds(self, rules: Rules) -> bool:
        """True if the viewer has every right that these rules give."""
        return self.platform or all(
            any(_covers(mine, one) for mine in self.rules)
            for rule in rules
            for one in _single(rule)
        )


def may_see_quota(access: Access, workspace: str) -> bool:
    """Whether the viewer may know how much the workspace may use, and does: whoever has a role in it,
    since they share it, and whoever may read the quota itself. To see the workspace is not enough."""
    return rights_in(access, workspace).belongs or access.can(
        "get", WORKSPACE_QUOTAS, name=workspace
    )


def rights_in(access: Access, workspace: str) -> WorkspaceRights:
    platform = access.can("update", WORKSPACE_TEMPLATES, name=workspace)
    own = _rules_of(access, workspace)
    rules = own + get_levels().of_platform(access.identity)
    return WorkspaceRights(access, workspace, rules, platform, own)


def rules_of_role(workspace: str, name: str) -> Rules | None:
    """None for a role that is not the workspace's."""
    entry: Entry[Role] | None = get_runtime().informer(WORKSPACE_ROLES).store.get(Key("", name))
    if entry is None or entry.projection.workspace != workspace or entry.projection.deleted:
        return None
    return parse_rules(entry.original().get("rules"))


def labelled(gvr: GVR, workspace: str) -> tuple[Entry[Any], ...]:
    """Objects of a type whose label names the workspace."""
    store = get_runtime().informer(gvr).store
    return indexes_of(store).by_label.get(f"{WORKSPACE_LABEL}={workspace}")


def roles_of(workspace: str) -> list[Role]:
    """In the order of their names."""
    found = labelled(WORKSPACE_ROLES, workspace)
    return sorted((entry.projection for entry in found), key=lambda role: role.name)


def bindings_of(workspace: str) -> list[Entry[Binding]]:
    """Who has which role, in the order of their names."""
    return sorted(labelled(WORKSPACE_ROLE_BINDINGS, workspace), key=lambda entry: entry.key)


def _rules_of(access: Access, workspace: str) -> Rules:
    if access.standing() is None:
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


def _single(rule: Rule) -> Iterator[Rule]:
    """One rule for each verb, group, resource and name."""
    for verb, group, resource in product(rule.verbs, rule.api_groups, rule.resources):
        for name in rule.resource_names or ("",):
            yield Rule((verb,), (group,), (resource,), (name,) if name else ())


def _covers(mine: Rule, one: Rule) -> bool:
    resource, _slash, subresource = one.resources[0].partition("/")
    named = not mine.resource_names or set(one.resource_names) <= set(mine.resource_names)
    wide = not (mine.resource_names and not one.resource_names)
    return named and wide and mine.reaches(one.verbs[0], one.api_groups[0], resource, subresource)
