"""Fields of the metadata that all objects have."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.kube.gvr import GVR
from console.ui.core.text import escape_invisible
from console.ui.navigation.projects import visible_namespaces
from console.ui.wizard import fields
from console.ui.wizard.fields import Choice, Text
from console.ui.wizard.parts import FormPart, Group
from console.ui.wizard.paths import ABSENT
from console.ui.wizard.state import FieldScope
from console.ui.wizard.wizard import Slot, Step, Wizard


@dataclass(frozen=True, kw_only=True)
class ProjectField(fields.Select):
    """The namespace of a new object: one of those in which the viewer may create it."""

    gvr: GVR

    def names(self, scope: FieldScope) -> list[str]:
        """Return the visible namespaces in which the viewer may create the object."""
        access = scope.state.context.access
        allowed = access.namespaces_where("create", self.gvr)
        return [*visible_namespaces(access)] if allowed is None else sorted(allowed)

    def options(self, scope: FieldScope) -> Sequence[Choice]:
        return [
            Choice("", _("Choose a project")),
            *(Choice(n, escape_invisible(n)) for n in self.names(scope)),
        ]

    def shown(self, value: object) -> str | None:
        # The options depend on the viewer, so `check` compares the value with them.
        return "" if value is ABSENT else value if isinstance(value, str) and value else None

    def parsed(self, text: str) -> object:
        return text or ABSENT


def name_check(value: str, scope: FieldScope) -> Text:
    return fields.dns_subdomain(value, scope)


def basics(
    gvr: GVR, check: fields.Check = name_check, *, namespaced: bool = True, hint: Text = ""
) -> Group:
    """Return the fields for the name and the project of a new object."""
    name = fields.TextInput(
        id="name",
        path=("metadata", "name"),
        label=gettext_lazy("Name"),
        hint=hint or gettext_lazy("Lowercase letters, digits and -. Cannot be changed later."),
        required=True,
        missing=gettext_lazy("Enter a name."),
        size="medium",
        max_length=253,
        check=check,
    )
    project = ProjectField(
        id="namespace",
        path=("metadata", "namespace"),
        label=gettext_lazy("Project"),
        gvr=gvr,
        required=True,
        missing=gettext_lazy("Choose a project."),
        check=lambda value, scope: "" if value in project.names(scope) else _("Choose a project."),
    )
    parts: list[FormPart] = [name]
    if namespaced:
        parts.append(project)
    return Group(parts=parts, shown_if=lambda scope: scope.state.context.is_new)


_ALIAS, _DESCRIPTION = "kubesphere.io/alias-name", "kubesphere.io/description"

#: Display name and description, as KubeSphere stores them.
DESCRIPTION = Group(
    parts=(
        fields.TextInput(
            id="alias",
            path=("metadata", "annotations", _ALIAS),
            label=gettext_lazy("Display name"),
            max_length=63,
            size="medium",
            is_marked=True,
        ),
        fields.TextInput(
            id="description",
            path=("metadata", "annotations", _DESCRIPTION),
            label=gettext_lazy("Description"),
            max_length=256,
            is_marked=True,
        ),
    )
)


def _labels(own: Callable[[str], bool] | None = None) -> Sequence[FormPart]:
    """Return the fields of labels and annotations, see `fields.Pairs.own`."""
    return (
        fields.Pairs(
            id="labels",
            path=("metadata", "labels"),
            label=gettext_lazy("Labels"),
            hint=gettext_lazy("One key=value per line."),
        ),
        fields.Pairs(
            id="annotations",
            path=("metadata", "annotations"),
            label=gettext_lazy("Annotations"),
            hint=gettext_lazy("One key=value per line."),
            own=own,
        ),
    )


#: Labels, with the same rules as kube-apiserver's.
LABELS = Group(title=gettext_lazy("Labels and annotations"), parts=_labels())


def _label_count(scope: FieldScope) -> Text:
    count = sum(
        len(held)
        for name in ("labels", "annotations")
        if isinstance(held := scope.get("metadata", name), dict)
    )
    words = ngettext("%(n)d label or annotation", "%(n)d labels and annotations", count)
    return words % {"n": count} if count else gettext_lazy("None")


def _more(apart: Callable[[str], bool]) -> Group:
    """Return the labels of an object with one step."""
    parts = _labels(lambda key: key not in (_ALIAS, _DESCRIPTION) and not apart(key))
    return replace(LABELS, is_advanced=True, now=_label_count, parts=parts)


def short_wizard(
    gvr: GVR,
    api_kind: str,
    *parts: FormPart,
    namespaced: bool = True,
    check: fields.Check = name_check,
    slots: Sequence[Slot] = (),
    apart: Callable[[str], bool] = lambda key: False,
    section: str = "",
    **options: Any,
) -> Wizard:
    """Return a wizard with one step: name, the `parts`, labels and annotations.

    `slots` are further documents. `parts` show annotations for which `apart` returns True. `section`
    is the name of the section with the `parts`, or "". `options` are fields of `Wizard`.
    """
    head = (basics(gvr, check, namespaced=namespaced), DESCRIPTION)
    step = Step(id="form", title=gettext_lazy("Settings"), parts=(*head, *parts, _more(apart)))
    slots = (Slot(id="", gvr=gvr, api_kind=api_kind), *slots)
    if section:
        options["sections"] = (replace(step, id=section, parts=parts),)
    return Wizard(slots=slots, steps=(step,), **options)


def suggested(id: str, label: Text, gvr: GVR, **options: Any) -> fields.Suggested:
    """Return a field for the name of an object of a type."""
    return fields.Suggested(
        id=id, label=label, suggest=lambda scope: scope.state.context.names(gvr), **options
    )
