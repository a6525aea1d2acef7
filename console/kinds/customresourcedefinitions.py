"""The CustomResourceDefinition kind."""

from collections.abc import Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, GVR
from console.kube.projections.definition import Definition
from console.kube.status import Severity, Status
from console.kube.store import Entry
from console.ui.core.action_texts import Fact
from console.ui.core.actions import Delete
from console.ui.core.custom_kinds import is_internal_type
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import kinds, register
from console.ui.core.text import escape_invisible
from console.ui.lists.columns import (
    ANY_KIND,
    LinkColumn,
    LinkTarget,
    ListColumn,
    StatusColumn,
    TextColumn,
    WordColumn,
)
from console.ui.lists.filters import ChoiceFilter, FieldFilter, SearchFilter

SCOPES: dict[str, str | Promise] = {
    "Namespaced": gettext_lazy("Project"),
    "Cluster": gettext_lazy("Cluster"),
}
_ESTABLISHED = Status(Severity.OK, gettext_noop("Established"))
_INSTALLING = Status(Severity.PROGRESS, gettext_noop("Installing"))
_TERMINATING = Status(Severity.ENDING, gettext_noop("Terminating"))


def status_of(definition: Definition) -> Status:
    """Return the status of a definition.

    A name conflict takes precedence: if a later change of the names is rejected, the definition
    stays established.
    """
    if definition.deleted is not None:
        return _TERMINATING
    if definition.conflict:
        return Status(Severity.ERROR, gettext_noop("Name conflict"), definition.conflict)
    return _ESTABLISHED if definition.established else _INSTALLING


def scope_of(definition: Definition) -> str:
    return "Namespaced" if definition.namespaced else "Cluster"


def versions_of(definition: Definition) -> tuple[str, ...]:
    return tuple(version.name for version in definition.versions if version.served)


def objects_of(definition: Definition) -> LinkTarget | None:
    versions = versions_of(definition)
    if not definition.established or not versions:
        return None
    if not _is_listed(definition, versions):
        return None
    return LinkTarget(f"{definition.plural}.{definition.group}", "", "")


def _is_listed(definition: Definition, versions: tuple[str, ...]) -> bool:
    """Return True if the console has a list page for the definition's objects."""
    group, plural = definition.group, definition.plural
    if kinds.declares(group, plural):
        return True
    return not any(is_internal_type(GVR(group, version, plural)) for version in versions)


@register
class CustomResourceDefinitionKind(ResourceKind):
    gvr, scope, nav = CUSTOM_RESOURCE_DEFINITIONS, Scope.CLUSTER, Nav("custom", 10, "custom")
    short_names = ("crd", "crds")
    projection = Definition
    title = gettext_lazy("Custom resource definitions")
    singular = gettext_lazy("custom resource definition")
    nouns = gettext_lazy("custom resource definitions")
    example = {
        "metadata": {"name": "examples.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Example", "plural": "examples", "singular": "example"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": {
                                    "type": "object",
                                    "properties": {"size": {"type": "integer"}},
                                }
                            },
                        }
                    },
                }
            ],
        },
    }
    severity_words = {Severity.OK: gettext_lazy("Established")}
    columns = (
        StatusColumn(status=status_of),
        LinkColumn(
            id="kind", label=gettext_lazy("Kind"), priority=2, to=objects_of, leads_to=ANY_KIND
        ),
        TextColumn(id="group", label=gettext_lazy("Group"), priority=2),
        WordColumn(id="scope", label=gettext_lazy("Scope"), priority=3, get=scope_of, words=SCOPES),
        ListColumn(
            id="versions", label=gettext_lazy("Versions"), priority=3, get=versions_of, most=3
        ),
        ListColumn(id="short_names", label=gettext_lazy("Short names"), priority=4),
    )
    search = SearchFilter(
        covers=gettext_lazy("Name, kind or short name"),
        texts=lambda definition: (definition.kind, *definition.short_names),
    )
    filters = (
        FieldFilter(param="group", label=gettext_lazy("Group")),
        ChoiceFilter(
            param="scope",
            label=gettext_lazy("Scope"),
            choices=tuple(SCOPES.items()),
            get=scope_of,
        ),
    )
    actions = (Delete(),)
    confirm_by_name = True

    def deleted_with(self, name: str) -> str:
        return _("Deleting definition %(name)s also deletes all objects of its kind.") % {
            "name": escape_invisible(name)
        }

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        definition: Definition = entry.projection
        words = {"kind": escape_invisible(definition.kind)}
        return [
            (_("Kind"), escape_invisible(f"{definition.kind} ({definition.group})")),
            (_("Also deleted"), _("all %(kind)s objects in all projects") % words),
        ]
