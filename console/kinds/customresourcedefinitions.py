"""The CustomResourceDefinition kind."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from console.actions.contents import DeleteDefinition
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, version_priority
from console.kube.projections.definition import Definition
from console.kube.status import Severity, Status
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.action_texts import Fact
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.descriptions.definitions import definition
from console.ui.details.panels import NOTHING, Panel
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.standard import kind_panels

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
    """Return the served versions, the preferred version first."""
    served = (version.name for version in definition.versions if version.served)
    return tuple(sorted(served, key=version_priority))


def objects_of(definition: Definition) -> lists.LinkTarget | None:
    versions = versions_of(definition)
    if not definition.established or not versions:
        return None
    return lists.LinkTarget(f"{definition.plural}.{definition.group}", "", "")


@dataclass(frozen=True, kw_only=True)
class VersionsPanel(Panel):
    """The versions of a definition, and how objects are converted between them."""

    id: str = "versions"
    title: str | Promise = gettext_lazy("Versions")

    def html(self, subject: Subject) -> SafeString:
        definition: Definition = subject.entry.projection
        preferred = next(iter(versions_of(definition)), "")
        versions = [
            {
                "name": escape_invisible(version.name),
                "served": version.served,
                "storage": version.storage,
                "preferred": version.name == preferred,
                "deprecated": version.deprecated,
                "warning": escape_invisible(version.warning),
            }
            for version in sorted(definition.versions, key=lambda one: version_priority(one.name))
        ]
        if not versions:
            return NOTHING
        context = {"versions": versions, "conversion": escape_invisible(definition.conversion)}
        return render_to_string("ui/panels/versions.html", context)


@register
@kind_panels(VersionsPanel(), last=(DescriptionPanel(describe=definition, place="right"),))
class CustomResourceDefinitionKind(ResourceKind):
    gvr, scope, nav = CUSTOM_RESOURCE_DEFINITIONS, Scope.CLUSTER, Nav("custom", 10, "custom")
    short_names = ("crd", "crds")
    projection = Definition
    can_be_copied = False
    checked_for_problems = True
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
        lists.StatusColumn(status=status_of),
        lists.LinkColumn(
            id="kind",
            label=gettext_lazy("Kind"),
            priority=2,
            to=objects_of,
            leads_to=lists.ANY_KIND,
        ),
        lists.TextColumn(id="group", label=gettext_lazy("Group"), priority=2),
        lists.WordColumn(
            id="scope", label=gettext_lazy("Scope"), priority=3, get=scope_of, words=SCOPES
        ),
        lists.ListColumn(
            id="versions", label=gettext_lazy("Versions"), priority=3, get=versions_of, most=3
        ),
        lists.ListColumn(id="short_names", label=gettext_lazy("Short names"), priority=4),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, kind or short name"),
        texts=lambda definition: (definition.kind, *definition.short_names),
    )
    filters = (
        replace(lists.STATE, get=lambda definition: (status_of(definition).word,)),
        lists.FieldFilter(param="group", label=gettext_lazy("Group")),
        lists.ChoiceFilter(
            param="scope",
            label=gettext_lazy("Scope"),
            choices=tuple(SCOPES.items()),
            get=scope_of,
        ),
    )
    actions = (DeleteDefinition(),)
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
