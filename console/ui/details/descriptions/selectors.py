"""Texts of label selectors and node selectors in manifests."""

from collections.abc import Mapping
from typing import Any

import msgspec
from django.utils.translation import gettext as _

from console.kube.projections.common import Selector, selector_text
from console.ui.core.manifests import mapping, mappings_at, text, texts


def selector_of(value: Any) -> str:
    """Return a label selector in kubectl's syntax, or "" if it selects everything."""
    try:
        return text(selector_text(msgspec.convert(value, Selector)))
    except msgspec.ValidationError:
        # A placeholder, because "" would be shown as "all".
        return _("an invalid selector")


def pods_text(pods: str, projects: str | None) -> str:
    """Return a phrase for the pods that match a selector, in projects that match `projects`.

    "" matches everything. Without `projects`, only pods in the project of the object match.
    """
    words = {"pods": pods, "projects": projects}
    if projects is None:
        return (
            _("pods with %(pods)s in this project") % words
            if pods
            else _("all pods in this project")
        )
    if projects:
        if pods:
            return _("pods with %(pods)s in projects with %(projects)s") % words
        return _("all pods in projects with %(projects)s") % words
    return (
        _("pods with %(pods)s in all projects") % words if pods else _("all pods in all projects")
    )


_OPERATORS = {"In": "in", "NotIn": "notin", "Gt": ">", "Lt": "<"}


def node_terms(selector: Any) -> list[str]:
    """Return the terms of a node selector. A node must match at least one term."""
    return [
        ", ".join(
            requirement(one)
            for field in ("matchExpressions", "matchFields")
            for one in mappings_at(term, field)
        )
        for term in mappings_at(mapping(selector), "nodeSelectorTerms")
    ]


def requirement(value: Mapping[str, Any]) -> str:
    """Return a requirement on a label, such as `zone in (a, b)`."""
    key, operator = text(value.get("key")), text(value.get("operator"))
    values = ", ".join(texts(value.get("values")))
    if operator == "DoesNotExist":
        return f"!{key}"
    if operator == "Exists":
        return key
    word = _OPERATORS.get(operator, operator)
    return f"{key} {word} {values}" if operator in ("Gt", "Lt") else f"{key} {word} ({values})"
