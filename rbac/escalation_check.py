"""Check that users grant only permissions that they have themselves.

Pure functions. The comparison follows kube-apiserver
(k8s.io/component-helpers/auth/rbac/validation): the requested rules are split into single
permissions, and each of them must be covered by one held rule. The check is used for platform
and workspace roles, which kube-apiserver does not compare.

Guarantees:
- Fails closed: rules that are too large to be split count as not held.
- A wildcard is covered only by a wildcard: `*` is never covered by a list of names.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple, Self

from rbac.rules import ALL, Rule, Rules

#: Maximum number of comparisons of a single permission with a rule per check, because checks run on
#: an event loop.
MAX_COMPARISONS = 500_000


class ComparisonBudget:
    """The remaining comparison budget, shared by several lists of rules that are checked together."""

    remaining = MAX_COMPARISONS


def uncovered(held: Rules, wanted: Iterable[Rule], within: ComparisonBudget | None = None) -> Rules:
    """Return the part of `wanted` that `held` does not cover: single permissions, or the whole rule
    if it is too large to be split.
    """
    sets, within = [_HeldRule.of(rule) for rule in held], within or ComparisonBudget()
    return tuple(dict.fromkeys(part for rule in wanted for part in _uncovered(sets, rule, within)))


def covers(held: Rules, wanted: Iterable[Rule]) -> bool:
    return not uncovered(held, wanted)


class _HeldRule(NamedTuple):
    """A rule prepared for lookups. `of_all` contains the subresources that the rule allows for all
    resources.
    """

    verbs: frozenset[str]
    groups: frozenset[str]
    resources: frozenset[str]
    of_all: frozenset[str]
    names: frozenset[str]
    urls: tuple[str, ...]

    @classmethod
    def of(cls, rule: Rule) -> Self:
        of_all = (one.removeprefix("*/") for one in rule.resources if one.startswith("*/"))
        return cls(
            frozenset(rule.verbs),
            frozenset(rule.api_groups),
            frozenset(rule.resources),
            frozenset(of_all),
            frozenset(rule.resource_names),
            rule.non_resource_urls,
        )


def _uncovered(held: list[_HeldRule], wanted: Rule, within: ComparisonBudget) -> Iterator[Rule]:
    if any(_covers(rule, wanted) for rule in held):
        return
    size = _size(wanted) * max(1, len(held))
    if size > within.remaining:
        yield wanted
        return
    within.remaining -= size
    yield from (part for part in _parts(wanted) if not any(_covers(rule, part) for rule in held))


def _size(rule: Rule) -> int:
    places = len(rule.api_groups) * len(rule.resources) * max(1, len(rule.resource_names))
    return len(rule.verbs) * (places + len(rule.non_resource_urls))


def _parts(rule: Rule) -> Iterator[Rule]:
    names: list[tuple[str, ...]] = [(name,) for name in rule.resource_names] or [()]
    for group, resource, verb, name in product(rule.api_groups, rule.resources, rule.verbs, names):
        yield Rule((verb,), (group,), (resource,), name)
    for url, verb in product(rule.non_resource_urls, rule.verbs):
        yield Rule((verb,), non_resource_urls=(url,))


def _covers(held: _HeldRule, wanted: Rule) -> bool:
    return (
        (ALL in held.verbs or held.verbs.issuperset(wanted.verbs))
        and (ALL in held.groups or held.groups.issuperset(wanted.api_groups))
        and all(_has_resource(held, resource) for resource in wanted.resources)
        and (
            not held.names
            or (bool(wanted.resource_names) and held.names.issuperset(wanted.resource_names))
        )
        and all(_has_url(held, url) for url in wanted.non_resource_urls)
    )


def _has_resource(held: _HeldRule, resource: str) -> bool:
    if ALL in held.resources or resource in held.resources:
        return True
    _, slash, subresource = resource.partition("/")
    return bool(slash) and subresource in held.of_all


def _has_url(held: _HeldRule, url: str) -> bool:
    return any(
        pattern == url or (pattern.endswith(ALL) and url.startswith(pattern.rstrip(ALL)))
        for pattern in held.urls
    )
