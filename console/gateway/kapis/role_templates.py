"""Role templates as KubeSphere's role objects, from which its console derives a user's permissions.

KubeSphere stores templates as roles with the label `iam.kubesphere.io/role-template`. The console has
them in its catalogue (`rbac.catalogue`), and in the cluster if it was installed for KubeSphere.
"""

import json
from collections.abc import Iterable, Mapping

from console.kube.apply import Manifest
from console.kube.projections.roles import ALIAS_ANNOTATION, TEMPLATE_LABEL
from console.kube.runtime import Reads
from rbac.catalogue import PREFIX, Template
from rbac.escalation_check import covers
from rbac.levels import TYPES, RoleScope
from rbac.projection import resource_rules
from rbac.rules import EVERYTHING, Rules, rules_to_json
from rbac.templates import DEPENDENCIES, MODULE, template_names, templates_for

#: JSON of resources and operations, such as {"members": "view"}.
UI_RULES = "iam.kubesphere.io/role-template-rules"


def template_manifests(source: Reads, place: RoleScope) -> list[Manifest]:
    """Return the templates of a level as role objects."""
    known = templates_for(source, place)
    return [_manifest(place, one) for one in known.values()]


def templates_of_role(
    source: Reads, place: RoleScope, rules: Rules, annotations: Mapping[str, str]
) -> list[Manifest]:
    """Return the templates that a role consists of: all of them for a role with every permission."""
    known = templates_for(source, place)
    names: Iterable[str] = template_names(annotations)
    if covers(rules, resource_rules(EVERYTHING)):
        names = known
    return [_manifest(place, known[name]) for name in names if name in known]


def _manifest(place: RoleScope, one: Template) -> Manifest:
    metadata = {
        "name": one.name,
        **({"namespace": place.namespace} if place.namespace else {}),
        "labels": {TEMPLATE_LABEL: "true"},
        "annotations": {
            MODULE: one.module,
            ALIAS_ANNOTATION: one.title,
            DEPENDENCIES: json.dumps(one.needs),
            UI_RULES: json.dumps(_ui_rules(one.name)),
        },
    }
    return TYPES[place.level].role(metadata, rules_to_json(one.rules))


def _ui_rules(name: str) -> dict[str, str]:
    """Return the rules for KubeSphere's console: `{"members": "view"}` for the template
    `role-template-view-members`.
    """
    verb, _dash, resource = name.removeprefix(PREFIX).partition("-")
    return {resource: verb} if verb in ("view", "create", "manage") and resource else {}
