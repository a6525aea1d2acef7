"""What a role allows, and which questions that answers.

Pure: no cluster, no Django. The rules are those of kube-apiserver's RBAC authorizer
(pkg/apis/rbac/v1/evaluation_helpers.go), for KubeSphere's roles as well, whose rules are the same.

Promises:
- A rule allows what its words say and nothing else: `*` is a whole word, but for the end of a path.
- What cannot be read as a rule allows nothing.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

ALL = "*"
#: Requests of these verbs name no object, unless a field selector does.
UNNAMED = frozenset({"create", "deletecollection", "list", "watch"})


class Question(NamedTuple):
    """A request for a resource, as kube-apiserver sees it. `namespace`: "" is all of them, `name`: "" is
    none; a list or a watch has the name that its field selector demands."""

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

    def reaches(self, verb: str, group: str, resource: str, subresource: str = "") -> bool:
        """True if it allows that for some name; without `resource_names`, for every one."""
        return (
            (verb in self.verbs or ALL in self.verbs)
            and (group in self.api_groups or ALL in self.api_groups)
            and self._reaches_resource(resource, subresource)
        )

    def allows(self, asked: Question) -> bool:
        return self.reaches(asked.verb, asked.group, asked.resource, asked.subresource) and (
            not self.resource_names or asked.name in self.resource_names
        )

    def allows_path(self, verb: str, path: str) -> bool:
        """For a request that is about no resource."""
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

#: What Kubernetes' `cluster-admin` says.
EVERYTHING: Rules = (Rule((ALL,), (ALL,), (ALL,)), Rule((ALL,), non_resource_urls=(ALL,)))


def parse_rules(found: Any) -> Rules:
    """Those of a role's `rules`, as JSON has them. What is no rule is left out."""
    return tuple(rule for item in found if (rule := _parse(item))) if _is_list(found) else ()


def written(rules: Iterable[Rule]) -> list[dict[str, list[str]]]:
    """Rules as objects have them."""
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


def _is_list(found: Any) -> bool:
    return isinstance(found, list | tuple)


def any_allows(rules: Iterable[Rule], asked: Question) -> bool:
    return any(rule.allows(asked) for rule in rules)


def any_allows_all(rules: Iterable[Rule], asked: Question) -> bool:
    """Whether what is asked without a name is allowed for every object. A rule may name the object "":
    that is a request without a name, and never one for an object."""
    return any(
        rule.allows(asked) and (asked.verb in UNNAMED or not rule.resource_names) for rule in rules
    )


def as_requested(asked: Question) -> Question:
    """A namespace is in itself, as far as rights go: `GET /api/v1/namespaces/shop` is a request in
    `shop` (RequestInfoFactory of k8s.io/apiserver)."""
    if asked.name and asked.resource == "namespaces" and not asked.group:
        return asked._replace(namespace=asked.name)
    return asked
