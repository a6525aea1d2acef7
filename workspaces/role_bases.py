"""Rules of the built-in roles according to the cluster's RoleBases.

If a cluster has KubeSphere's RoleBases, including customized ones, new projects get the same
roles as existing ones. For roles without a RoleBase, the rules in `workspaces.builtin_roles` are
used.

Guarantees:
- A RoleBase is skipped if it does not contain resource rules or is for another role. It has no
  effect, and invalid rules are logged once.
- If two RoleBases are for the same role, the first by name counts.
"""

import logging
from typing import Any, NamedTuple

from console.kube.apply import Manifest
from console.kube.controller import NotSynced
from console.kube.factory import UnknownKind
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, ROLE_BASES
from console.kube.projections.roles import RoleBase
from console.kube.runtime import Runtime
from console.kube.store import Entry, Store
from rbac.rules import Rule, Rules, parse_rules, rules_to_json
from workspaces.builtin_roles import PROJECT_RULES, WORKSPACE_RULES

log = logging.getLogger(__name__)


class RoleBaseRules(NamedTuple):
    """Rules by role name. Workspace roles are listed without the workspace prefix."""

    workspaces: dict[str, list[Manifest]]
    projects: dict[str, list[Manifest]]


#: The rules used without RoleBases.
DEFAULT_RULES = RoleBaseRules(WORKSPACE_RULES, PROJECT_RULES)


class RoleBases:
    """The RoleBases of one cluster."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._known = DEFAULT_RULES
        self._seen: tuple[Store[Any], int] | None = None
        #: Names and versions of the RoleBases that were logged.
        self._said: set[tuple[str, str]] = set()

    def rules(self) -> RoleBaseRules:
        """Return the current rules. Raise `NotSynced` if the RoleBases are not loaded."""
        store = self._store()
        if store is None:
            return DEFAULT_RULES
        seen = (store, store.version)
        if seen != self._seen:
            self._known, self._seen = self._read(store), seen
        return self._known

    def _store(self) -> Store[Any] | None:
        """Return the store, or None if the cluster has no RoleBases."""
        try:
            bases = self._runtime.informer(ROLE_BASES)
        except UnknownKind:
            return None
        if bases.freshness.synced:
            return bases.store
        if bases.refusal is not None:
            self._log_once(
                "",
                "",
                "The console has no permission to read RoleBases, so the default rules are used. "
                "Run `quarterdeck install` to update the console's permissions",
            )
            return None
        definitions = self._runtime.informer(CUSTOM_RESOURCE_DEFINITIONS)
        certain = definitions.freshness.synced or definitions.refusal is not None
        if not certain or self._runtime.types.get(ROLE_BASES) is not None:
            raise NotSynced
        return None

    def _read(self, store: Store[Any]) -> RoleBaseRules:
        found = RoleBaseRules(dict(DEFAULT_RULES.workspaces), dict(DEFAULT_RULES.projects))
        taken = set[tuple[str, str]]()
        entries = store.snapshot().entries
        for key in sorted(entries):
            entry: Entry[RoleBase] = entries[key]
            base = entry.projection
            roles = _roles_like(base, found)
            this = (base.role_kind, base.role)
            nameless = not all(this)
            if not nameless and (roles is None or base.role not in roles or this in taken):
                continue
            rules = None if nameless or roles is None else _rules(entry)
            if rules is None or roles is None:
                text = f"Ignoring RoleBase {base.name!a}: it does not contain valid role rules"
                self._log_once(base.name, entry.resource_version, text)
                continue
            taken.add(this)
            roles[base.role] = rules_to_json(rules)
        return found

    def _log_once(self, name: str, version: str, text: str) -> None:
        if (name, version) not in self._said:
            self._said.add((name, version))
            log.warning("%s", text)


def _roles_like(base: RoleBase, found: RoleBaseRules) -> dict[str, list[Manifest]] | None:
    """Return the rules that the RoleBase may override, or None. RoleBases for DevOps projects only
    are ignored.
    """
    if base.role_kind == "WorkspaceRole":
        return found.workspaces
    return found.projects if base.role_kind == "Role" and base.for_projects else None


def _rules(entry: Entry[RoleBase]) -> Rules | None:
    """Return the rules, or None if kube-apiserver would reject them in a Role."""
    found = entry.original()["role"].get("rules")
    if found is None:
        return ()
    rules = parse_rules(found)
    whole = isinstance(found, list) and len(rules) == len(found)
    return rules if whole and all(map(_is_of_resources, rules)) else None


def _is_of_resources(rule: Rule) -> bool:
    return bool(rule.verbs and rule.api_groups and rule.resources) and not rule.non_resource_urls
