"""Privilege escalation prevention: users can only grant permissions that they hold.

Rules:
https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
"""

from collections.abc import Iterable, Iterator
from itertools import product

from devcluster.authn import UserInfo
from devcluster.errors import forbidden, not_found
from devcluster.objects import Obj, meta
from devcluster.rbac import (
    EVERYTHING,
    GROUP,
    Attributes,
    Rbac,
    Rule,
    path_matches,
    resource_matches,
)
from devcluster.resources import ResourceType

_ROLE_PLURALS = {"Role": "roles", "ClusterRole": "clusterroles"}


def check_escalation(
    rbac: Rbac, user: UserInfo, declared: ResourceType, new: Obj, old: Obj | None
) -> None:
    """Raise a 403 error if the write would grant permissions that `user` does not hold."""
    if declared.group != GROUP:
        return
    if declared.plural in ("roles", "clusterroles"):
        _check_role(rbac, user, declared, new, old)
    else:
        _check_binding(rbac, user, declared, new, old)


def _check_role(
    rbac: Rbac, user: UserInfo, declared: ResourceType, new: Obj, old: Obj | None
) -> None:
    unchanged = old is not None and all(
        old.get(key) == new.get(key) for key in ("rules", "aggregationRule")
    )
    about = meta(new)
    namespace, name = about.get("namespace", ""), about.get("name", "")
    if unchanged or _may(rbac, user, "escalate", declared.plural, namespace, name):
        return
    if new.get("aggregationRule") and _missing(rbac, user, "", EVERYTHING):
        why = "must have cluster-admin privileges to use an aggregationRule"
        raise forbidden(GROUP, declared.plural, name, why)
    rules = [Rule.parse(rule) for rule in new.get("rules") or ()]
    _check_held(rbac, user, declared.plural, namespace, name, rules)


def _check_binding(
    rbac: Rbac, user: UserInfo, declared: ResourceType, new: Obj, old: Obj | None
) -> None:
    if old is not None and all(old.get(key) == new.get(key) for key in ("roleRef", "subjects")):
        return
    about, ref = meta(new), new.get("roleRef") or {}
    namespace, name = about.get("namespace", ""), about.get("name", "")
    kind, role = ref.get("kind", ""), ref.get("name", "")
    plural = _ROLE_PLURALS.get(kind, "")
    if _may(rbac, user, "bind", plural, namespace, role):
        return
    rules = rbac.role_rules(kind, namespace, role)
    if rules is None:
        raise not_found(GROUP, plural, role)
    _check_held(rbac, user, declared.plural, namespace, name, rules)


def _may(rbac: Rbac, user: UserInfo, verb: str, plural: str, namespace: str, name: str) -> bool:
    asked = Attributes(user, verb, GROUP, plural, "", namespace, name)
    return rbac.authorize(asked).allowed


def _check_held(
    rbac: Rbac, user: UserInfo, plural: str, namespace: str, name: str, wanted: Iterable[Rule]
) -> None:
    missing = _missing(rbac, user, namespace, wanted)
    if missing:
        groups = " ".join(f'"{group}"' for group in user.groups)
        listed = "\n".join(missing)
        why = (
            f'user "{user.name}" (groups=[{groups}]) is attempting to grant RBAC permissions '
            f"not currently held:\n{listed}"
        )
        raise forbidden(GROUP, plural, name, why)


def _missing(rbac: Rbac, user: UserInfo, namespace: str, wanted: Iterable[Rule]) -> list[str]:
    """Return the rules of `wanted` that the user does not hold, in Kubernetes' notation."""
    held, _ = rbac.rules_for(user, namespace)
    return [
        _text(simple)
        for rule in wanted
        for simple in _simple(rule)
        if not any(_covers(one, simple) for one in held)
    ]


def _simple(rule: Rule) -> Iterator[Rule]:
    """Split a rule into rules with one verb, one group, one resource and at most one name."""
    one = frozenset
    for group, resource, verb in product(
        sorted(rule.groups), sorted(rule.resources), sorted(rule.verbs)
    ):
        for name in sorted(rule.names) or (None,):
            names = one({name}) if name is not None else one(())
            yield Rule(one({verb}), one({group}), one({resource}), names)
    for path, verb in product(sorted(rule.paths), sorted(rule.verbs)):
        yield Rule(one({verb}), paths=one({path}))


def _covers(held: Rule, simple: Rule) -> bool:
    if "*" not in held.verbs and not simple.verbs <= held.verbs:
        return False
    if simple.paths:
        return any(path_matches(pattern, path) for path in simple.paths for pattern in held.paths)
    resource = next(iter(simple.resources))
    return (
        ("*" in held.groups or simple.groups <= held.groups)
        and resource_matches(held.resources, resource, resource.partition("/")[2])
        and (not held.names or bool(simple.names and simple.names <= held.names))
    )


def _text(rule: Rule) -> str:
    parts = []
    for title, values in (
        ("APIGroups", rule.groups),
        ("Resources", rule.resources),
        ("ResourceNames", rule.names),
        ("NonResourceURLs", rule.paths),
        ("Verbs", rule.verbs),
    ):
        if values:
            listed = " ".join(f'"{value}"' for value in sorted(values))
            parts.append(f"{title}:[{listed}]")
    return "{" + ", ".join(parts) + "}"
