"""Descriptions of roles and role bindings."""

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Any

from django.utils.translation import gettext as _

from console.ui.core.manifests import mapping, mappings_at, text, texts
from console.ui.details.descriptions.selectors import selector_of
from console.ui.details.panels.description import (
    MOST_LINES,
    DescriptionTable,
    Facts,
    Lines,
    Section,
)


def role(manifest: Mapping[str, Any]) -> Iterator[Section]:
    yield from _rules(mappings_at(manifest, "rules"))
    selectors = mappings_at(manifest, "aggregationRule", "clusterRoleSelectors")
    yield Facts(
        (
            _("Aggregates cluster roles with"),
            [selector_of(selector) or _("any labels") for selector in selectors],
        )
    )


def role_base(manifest: Mapping[str, Any]) -> Iterator[Section]:
    yield from _rules(mappings_at(manifest, "role", "rules"))


def _rules(rules: list[Mapping[str, Any]]) -> Iterator[Section]:
    columns = (_("Resources"), _("Resource names"), _("Non-resource URLs"), _("Verbs"))
    rows = (
        (
            resources_of(rule),
            texts(rule.get("resourceNames")),
            texts(rule.get("nonResourceURLs")),
            ", ".join(texts(rule.get("verbs"))),
        )
        for rule in rules
    )
    yield DescriptionTable(columns, rows, len(rules), _("Rules"))


def resources_of(rule: Mapping[str, Any]) -> Lines:
    """Return the resources of a rule as `resource.group`, like `kubectl describe`."""
    resources = texts(rule.get("resources"))
    given = rule.get("apiGroups")
    # The core group is "".
    groups = [text(group) for group in given] if isinstance(given, list) and given else [""]
    # A rule can combine a large number of groups and resources.
    pairs = islice(product(resources, groups), MOST_LINES)
    found = tuple(_qualified(resource, group) for resource, group in pairs)
    return Lines(found, len(resources) * len(groups) - len(found))


def _qualified(resource: str, group: str) -> str:
    """Return the resource with its group before the subresource, such as `deployments.apps/scale`."""
    plural, slash, subresource = resource.partition("/")
    return f"{plural}.{group}{slash}{subresource}" if group else resource


def binding(manifest: Mapping[str, Any]) -> Iterator[Section]:
    role_ref, subjects = mapping(manifest, "roleRef"), mappings_at(manifest, "subjects")
    yield Facts((_("Role"), f"{text(role_ref.get('kind'))}/{text(role_ref.get('name'))}"))
    rows = (
        (text(one.get("kind")), text(one.get("name")), text(one.get("namespace")))
        for one in subjects
    )
    yield DescriptionTable((_("Kind"), _("Name"), _("Project")), rows, len(subjects), _("Subjects"))
