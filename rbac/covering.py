"""Whether somebody holds what they are about to give: nobody grants more than they have.

Pure. The comparison is kube-apiserver's (k8s.io/component-helpers/auth/rbac/validation): what is given
is taken apart into single rights, and each must be within one rule that is held. It is used where
kube-apiserver does not compare, for roles of the platform and of workspaces.

Promises:
- Fails closed: what is too large to be taken apart counts as not held.
- Nothing is held by being held in parts of a name: `*` is covered by `*` alone.
"""

from collections.abc import Iterable, Iterator
from itertools import product

from rbac.rules import ALL, Rule, Rules

#: Single rights that all rules of one comparison may be taken apart into: it is made on an event loop.
MOST = 50_000


class Comparison:
    """What may still be taken apart of several lists of rules that are compared together."""

    left = MOST


def uncovered(held: Rules, wanted: Iterable[Rule], within: Comparison | None = None) -> Rules:
    """What of `wanted` is not within `held`: single rights, or the whole rule where that is too much."""
    within = within or Comparison()
    return tuple(dict.fromkeys(part for rule in wanted for part in _uncovered(held, rule, within)))


def covers(held: Rules, wanted: Iterable[Rule]) -> bool:
    return not uncovered(held, wanted)


def _uncovered(held: Rules, wanted: Rule, within: Comparison) -> Iterator[Rule]:
    if any(_covers(rule, wanted) for rule in held):
        return
    size = _size(wanted)
    if size > within.left:
        yield wanted
        return
    within.left -= size
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


def _covers(held: Rule, wanted: Rule) -> bool:
    return (
        (ALL in held.verbs or set(wanted.verbs) <= set(held.verbs))
        and (ALL in held.api_groups or set(wanted.api_groups) <= set(held.api_groups))
        and all(_has_resource(held, resource) for resource in wanted.resources)
        and _has_names(held, wanted)
        and all(_has_url(held, url) for url in wanted.non_resource_urls)
    )


def _has_resource(held: Rule, resource: str) -> bool:
    if ALL in held.resources or resource in held.resources:
        return True
    _, slash, subresource = resource.partition("/")
    return bool(slash) and f"*/{subresource}" in held.resources


def _has_names(held: Rule, wanted: Rule) -> bool:
    if not held.resource_names:
        return True
    return bool(wanted.resource_names) and set(wanted.resource_names) <= set(held.resource_names)


def _has_url(held: Rule, url: str) -> bool:
    return any(
        pattern == url or (pattern.endswith(ALL) and url.startswith(pattern.rstrip(ALL)))
        for pattern in held.non_resource_urls
    )
