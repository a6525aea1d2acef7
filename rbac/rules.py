"""RBAC rules and their evaluation.

Pure functions that follow kube-apiserver's RBAC authorizer
(pkg/apis/rbac/v1/evaluation_helpers.go). KubeSphere's roles use the same rules.

Guarantees:
- Rules are matched literally. `*` is a wildcard only as a whole word and at the end of a path.
- Input that cannot be parsed as a rule allows nothing.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from console.kube.store import Entry

ALL = "*"
#: Requests with these verbs have no object name, unless they use a field selector for the name.
UNNAMED = frozenset({"create", "deletecollection", "list", "watch"})


class AccessQuestion(NamedTuple):
    """A resource request as kube-apiserver sees it. An empty `namespace` means all namespaces, an
    empty `name` means no name. A list or watch request has the name that its field selector
    requires.
    """

    verb: str
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""


class Rule(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A PolicyRule. https://kubernetes.io/docs/reference/access-authn-authz/rbac/"""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")

    def matches(self, verb: str, group: str, resource: str, subresource: str = "") -> bool:
        """Return True if the rule allows the request for at least one name, or for every name if
        `resource_names` is empty.
        """
        return (
            (verb in self.verbs or ALL in self.verbs)
            and (group in self.api_groups or ALL in self.api_groups)
            and self._reaches_resource(resource, subresource)
        )

    def allows(self, asked: AccessQuestion) -> bool:
        return self.matches(asked.verb, asked.group, asked.resource, asked.subresource) and (
            not self.resource_names or asked.name in self.resource_names
        )

    def allows_path(self, verb: str, path: str) -> bool:
        """Return True if the rule allows the non-resource request."""
        if verb not in self.verbs and ALL not in self.verbs:
            return False
        return any(
            pattern in (ALL, path)
            or (pattern.endswith(ALL) and path.startswith(pattern.rstrip(ALL)))
            for pattern in self.non_resource_urls
        )

    def _reaches_resource(self, resource: str, subresource: str) -> bool:
        if not subresource:
            return resource in self.resources or ALL in self.resources
        return (
            f"{resource}/{subresource}" in self.resources
            or f"*/{subresource}" in self.resources
            or ALL in self.resources
        )


Rules = tuple[Rule, ...]

#: The rules of Kubernetes' `cluster-admin` role.
EVERYTHING: Rules = (Rule((ALL,), (ALL,), (ALL,)), Rule((ALL,), non_resource_urls=(ALL,)))


def parse_rules(found: Any) -> Rules:
    """Return the rules of a role's `rules` field. Invalid items are skipped."""
    items = found if isinstance(found, list | tuple) else ()
    return tuple(rule for item in items if (rule := _parse(item)))


def role_rules(entry: Entry[Any]) -> Rules:
    """Return the rules of a cached role."""
    return parse_rules(entry.original().get("rules"))


def rules_to_json(rules: Iterable[Rule]) -> list[dict[str, list[str]]]:
    """Return the rules in the format of Kubernetes objects."""
    fields = (
        ("apiGroups", "api_groups"),
        ("resources", "resources"),
        ("resourceNames", "resource_names"),
        ("nonResourceURLs", "non_resource_urls"),
        ("verbs", "verbs"),
    )
    return [
        {name: list(value) for name, field in fields if (value := getattr(rule, field))}
        for rule in rules
    ]


def _parse(item: Any) -> Rule | None:
    if not isinstance(item, dict):
        return None
    try:
        return msgspec.convert({k: v for k, v in item.items() if v is not None}, Rule)
    except msgspec.ValidationError:
        return None


def any_allows(rules: Iterable[Rule], asked: AccessQuestion) -> bool:
    return any(rule.allows(asked) for rule in rules)


def any_allows_all(rules: Iterable[Rule], asked: AccessQuestion) -> bool:
    """Return True if the request is allowed for every object. A rule with the resource name ""
    matches only requests without a name.
    """
    return any(
        rule.allows(asked) and (asked.verb in UNNAMED or not rule.resource_names) for rule in rules
    )


def normalize_question(asked: AccessQuestion) -> AccessQuestion:
    """Set the namespace of a request for a Namespace to its own name. kube-apiserver treats `GET
    /api/v1/namespaces/shop` as a request in `shop` (RequestInfoFactory in k8s.io/apiserver).
    """
    if asked.name and asked.resource == "namespaces" and not asked.group:
        return asked._replace(namespace=asked.name)
    return asked
