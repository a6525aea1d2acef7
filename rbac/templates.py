"""Templates from which roles are assembled: built-in templates and templates in the cluster.

A template in the cluster is a role with the label `iam.kubesphere.io/role-template: "true"`. Its
kind determines its level: a GlobalRole, a WorkspaceRole without a workspace, a ClusterRole, or a
Role of a project. It replaces the built-in template with the same name, unless it has no rules
(as the cluster templates of KubeSphere 3.4).

A role stores the names of its templates in `iam.kubesphere.io/aggregation-roles`. Their rules
are copied when the role is saved and not updated later.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from console.kube.factory import UnknownKind
from console.kube.indexes import indexes_of
from console.kube.projections.roles import ALIAS_ANNOTATION, TEMPLATE_LABEL
from console.kube.runtime import Reads
from console.kube.store import Entry
from rbac.catalogue import CATALOGUE, Template
from rbac.levels import TYPES, RoleScope
from rbac.rules import Rules, parse_rules

AGGREGATION = "iam.kubesphere.io/aggregation-roles"
DEPENDENCIES = "iam.kubesphere.io/dependencies"
MODULE = "iam.kubesphere.io/module"
#: Module of cluster templates that don't name one.
OTHER = "Other"


def templates_for(source: Reads, place: RoleScope) -> Mapping[str, Template]:
    """Return the templates by name, in display order (by module)."""
    found = {one.name: one for one in CATALOGUE if one.level is place.level}
    for theirs in _of_cluster(source, place):
        ours = found.get(theirs.name)
        if ours is not None:
            found[theirs.name] = theirs._replace(
                title=ours.title,
                module=ours.module,
                rules=theirs.rules or ours.rules,
                needs=theirs.needs or ours.needs,
            )
        elif theirs.rules:
            found[theirs.name] = theirs
    return found


def with_dependencies(names: Iterable[str], known: Mapping[str, Template]) -> tuple[str, ...]:
    """Return `names` and the templates that they need, as far as they are known, in the order of
    `known`.
    """
    left, taken = [name for name in names if name in known], set[str]()
    while left:
        name = left.pop()
        if name not in taken:
            taken.add(name)
            left += [need for need in known[name].needs if need in known]
    return tuple(name for name in known if name in taken)


def rules_of(names: Iterable[str], known: Mapping[str, Template]) -> Rules:
    """Return the rules of the templates without duplicates."""
    return tuple(dict.fromkeys(rule for name in names for rule in known[name].rules))


def template_names(annotations: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the templates from which a role was assembled."""
    return _names(annotations.get(AGGREGATION, ""))


def rules_beyond_templates(
    rules: Rules, names: Iterable[str], known: Mapping[str, Template]
) -> Rules:
    """Return the rules of a role that are not part of its templates."""
    explained = set(rules_of([name for name in names if name in known], known))
    return tuple(rule for rule in rules if rule not in explained)


def _of_cluster(source: Reads, place: RoleScope) -> Iterator[Template]:
    try:
        store = source.informer(TYPES[place.level].roles).store
    except UnknownKind:
        return
    index = indexes_of(store).by(_places)
    for entry in index.get(place.namespace):
        role = entry.original()
        annotations = role["metadata"].get("annotations") or {}
        yield Template(
            place.level,
            entry.key.name,
            annotations.get(MODULE, "") or OTHER,
            annotations.get(ALIAS_ANNOTATION, "") or entry.key.name,
            parse_rules(role.get("rules")),
            _names(annotations.get(DEPENDENCIES, "")),
        )


def _places(entry: Entry[Any]) -> tuple[str, ...]:
    role = entry.projection
    if role.labels.get(TEMPLATE_LABEL) != "true" or role.workspace:
        return ()
    return (entry.key.namespace,)


def _names(text: str) -> tuple[str, ...]:
    """Parse an annotation value with a JSON list of names. Other values are ignored."""
    try:
        found = json.loads(text) if text else []
    except (ValueError, RecursionError):
        return ()
    names = found if isinstance(found, list) else []
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))
