"""Role-based access control, evaluated like kube-apiserver.

Rules: https://kubernetes.io/docs/reference/access-authn-authz/rbac/. `system:masters` has all
permissions. Parsed roles and bindings are cached until one of them changes.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from devcluster.authn import MASTERS, UserInfo, service_account_name
from devcluster.errors import forbidden
from devcluster.objects import Obj
from devcluster.requestinfo import RequestInfo
from devcluster.store import Change, Store, key_of

GROUP = "rbac.authorization.k8s.io"
_COLLECTIONS = tuple(
    f"{plural}.{GROUP}" for plural in ("clusterroles", "roles", "clusterrolebindings")
) + (f"rolebindings.{GROUP}",)
CLUSTER_ROLES, ROLES, CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS = _COLLECTIONS


@dataclass(frozen=True, slots=True)
class Attributes:
    """Attributes of an authorization check. `path` is set only for non-resource requests."""

    user: UserInfo
    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def combined(self) -> str:
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def attributes_of(user: UserInfo, verb: str, info: RequestInfo) -> Attributes:
    """Return the authorization attributes of a request."""
    place = (info.group, info.resource, info.subresource, info.namespace, info.name)
    return Attributes(user, verb, *place)


@dataclass(frozen=True, slots=True)
class Rule:
    """A parsed PolicyRule."""

    verbs: frozenset[str]
    groups: frozenset[str] = frozenset()
    resources: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, rule: Obj) -> "Rule":
        def read(key: str) -> frozenset[str]:
            return frozenset(rule.get(key) or ())

        return cls(
            read("verbs"),
            read("apiGroups"),
            read("resources"),
            read("resourceNames"),
            read("nonResourceURLs"),
        )

    def allows(self, asked: Attributes) -> bool:
        if asked.verb not in self.verbs and "*" not in self.verbs:
            return False
        if asked.path:
            return any(path_matches(pattern, asked.path) for pattern in self.paths)
        return (
            (asked.group in self.groups or "*" in self.groups)
            and resource_matches(self.resources, asked.combined, asked.subresource)
            and (not self.names or asked.name in self.names)
        )


_ALL = frozenset({"*"})
#: Rules of `system:masters`.
EVERYTHING = (Rule(_ALL, _ALL, _ALL), Rule(_ALL, paths=_ALL))


def path_matches(pattern: str, path: str) -> bool:
    if pattern == "*" or pattern == path:
        return True
    return pattern.endswith("*") and path.startswith(pattern.rstrip("*"))


def resource_matches(resources: Iterable[str], combined: str, subresource: str) -> bool:
    """Return True if a rule's resources include the resource.

    `*` matches all resources; `*/scale` matches the scale subresource of all resources.
    """
    known = frozenset(resources)
    if "*" in known or combined in known:
        return True
    return bool(subresource) and f"*/{subresource}" in known


@dataclass(frozen=True, slots=True)
class Decision:
    """Result of an authorization check. `reason` names the binding that allows it, or missing
    roles.
    """

    allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Grant:
    """A parsed role binding. An empty namespace means cluster-wide."""

    label: str
    namespace: str
    role_kind: str
    role: str
    subjects: tuple[tuple[str, str, str], ...]

    def subject_for(self, user: UserInfo) -> str:
        """Return a description of the subject that matches the user, or an empty string."""
        for kind, namespace, name in self.subjects:
            if kind == "User" and name == user.name:
                return f'User "{name}"'
            if kind == "Group" and name in user.groups:
                return f'Group "{name}"'
            if kind == "ServiceAccount":
                place = namespace or self.namespace
                if place and service_account_name(place, name) == user.name:
                    return f'ServiceAccount "{name}/{place}"'
        return ""


class Rbac:
    """Authorizer that uses the roles and bindings in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._grants: dict[str, list[Grant]] | None = None
        self._rules: dict[tuple[str, str], tuple[Rule, ...] | None] = {}
        for name in _COLLECTIONS:
            store.collection(name).listeners.add(self._forget)

    def _forget(self, _: Change) -> None:
        self._grants = None
        self._rules.clear()

    def authorize(self, asked: Attributes) -> Decision:
        if MASTERS in asked.user.groups:
            return Decision(True)
        problems: list[str] = []
        for grant, subject, rules in self._held(asked.user, asked.namespace, problems):
            if any(rule.allows(asked) for rule in rules):
                why = f'{grant.label} of {grant.role_kind} "{grant.role}" to {subject}'
                return Decision(True, f"RBAC: allowed by {why}")
        return Decision(False, f"RBAC: {_joined(problems)}" if problems else "")

    def require(self, asked: Attributes) -> None:
        """Raise a 403 error if the request is not allowed."""
        decision = self.authorize(asked)
        if not decision.allowed:
            why = _refusal(asked, decision.reason)
            raise forbidden(asked.group, asked.resource, asked.name, why)

    def rules_for(self, user: UserInfo, namespace: str) -> tuple[list[Rule], list[str]]:
        """Return all rules that the user has in the namespace, and messages about roles that don't
        exist.
        """
        problems: list[str] = []
        rules = [rule for _, _, held in self._held(user, namespace, problems) for rule in held]
        if MASTERS in user.groups:
            rules += EVERYTHING
        return rules, problems

    def role_rules(self, kind: str, namespace: str, name: str) -> tuple[Rule, ...] | None:
        """Return the rules of a role, or None if the role does not exist."""
        place = "" if kind == "ClusterRole" else namespace
        key = (kind, key_of(place, name))
        if key not in self._rules:
            record = self._store.find(CLUSTER_ROLES if kind == "ClusterRole" else ROLES, key[1])
            found = (record.load().get("rules") or ()) if record else None
            self._rules[key] = None if found is None else tuple(Rule.parse(rule) for rule in found)
        return self._rules[key]

    def _held(
        self, user: UserInfo, namespace: str, problems: list[str]
    ) -> Iterator[tuple[Grant, str, tuple[Rule, ...]]]:
        grants = self._grants if self._grants is not None else self._read_grants()
        places = ("", namespace) if namespace else ("",)
        for place in places:
            for grant in grants.get(place, ()):
                subject = grant.subject_for(user)
                if not subject:
                    continue
                rules = self.role_rules(grant.role_kind, place, grant.role)
                if rules is None:
                    plural = f"{grant.role_kind.lower()}.{GROUP}"
                    problems.append(f'{plural} "{grant.role}" not found')
                else:
                    yield grant, subject, rules

    def _read_grants(self) -> dict[str, list[Grant]]:
        grants: dict[str, list[Grant]] = {}
        for name in (CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS):
            for record in self._store.collection(name).records_in():
                grant = _grant(record.namespace, record.name, record.load())
                grants.setdefault(record.namespace, []).append(grant)
        self._grants = grants
        return grants


def _grant(namespace: str, name: str, binding: Obj) -> Grant:
    ref: dict[str, Any] = binding.get("roleRef") or {}
    kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    shown = f"{name}/{namespace}" if namespace else name
    subjects = tuple(
        (s.get("kind", ""), s.get("namespace", ""), s.get("name", ""))
        for s in binding.get("subjects") or ()
    )
    return Grant(f'{kind} "{shown}"', namespace, ref.get("kind", ""), ref.get("name", ""), subjects)


def _joined(problems: Sequence[str]) -> str:
    return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"


def _refusal(asked: Attributes, reason: str) -> str:
    """Return the message of a 403 error, without its prefix `… is forbidden: `."""
    name = json.dumps(asked.user.name, ensure_ascii=False)
    text = (
        f'User {name} cannot {asked.verb} resource "{asked.combined}" in API group "{asked.group}"'
    )
    text += f' in the namespace "{asked.namespace}"' if asked.namespace else " at the cluster scope"
    return f"{text}: {reason}" if reason else text
