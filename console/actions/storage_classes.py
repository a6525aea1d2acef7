"""Actions that set the default storage class and the allowed volume operations, and columns and
filters of storage kinds.

https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.gvr import STORAGE_CLASSES, Key
from console.kube.projections.storage import ALLOW_CLONE, ALLOW_SNAPSHOT, DEFAULT_ANNOTATIONS
from console.kube.store import Entry
from console.ui.core.actions import (
    Action,
    ActionContext,
    ActionSucceeded,
    Outcome,
    Patch,
    Permission,
)
from console.ui.core.kind import ResourceKind
from console.ui.core.labels import command_of
from console.ui.core.manifests import mapping
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.relations.visible_type import VisibleType
from console.ui.forms.forms import ChoiceField, ConsoleForm
from console.ui.lists.columns import LinkColumn, QuantityColumn, TextColumn, WordColumn
from console.ui.lists.filters import ChoiceFilter, FieldFilter

_ANNOTATION, _BETA = DEFAULT_ANNOTATIONS
#: The value "false" is more explicit than a missing annotation for controllers that would set it
#: again.
_IS_NOT: Mapping[str, str | None] = {_ANNOTATION: "false", _BETA: None}
_IS: Mapping[str, str | None] = {_ANNOTATION: "true"}


class DefaultForm(ConsoleForm):
    """Form with an option to unset the other default classes.

    `others` contains the default classes that the viewer can change. A valid form's cleaned data
    contains the classes to unset under `taken`. The form is invalid if the other default classes
    changed since it was displayed.
    """

    def __init__(self, data: QueryDict | None, others: Sequence[Entry[Any]]) -> None:
        super().__init__(data, initial={"others": True, "taken": others})
        self._others = others
        if others:
            self._offered = " ".join(one.projection.uid for one in others)
            label = _("Unset as default: %(names)s") % {"names": _names(others)}
            widget = forms.CheckboxInput({"value": self._offered})
            self.fields["others"] = forms.BooleanField(label=label, required=False, widget=widget)

    def clean_others(self) -> bool:
        if self.data.get("others", self._offered) != self._offered:
            raise ValidationError(ChoiceField.default_error_messages["invalid_choice"])
        return bool(self.cleaned_data["others"])

    def clean(self) -> dict[str, Any]:
        taken = self._others if self.cleaned_data.get("others") else ()
        return {**self.cleaned_data, "taken": taken}


class UnsetDefault(Patch):
    name = "unset-default"
    label = gettext_lazy("Unset default")
    reads_also = (STORAGE_CLASSES,)
    title_text = gettext_lazy("Unset %(kind)s %(name)s as default")
    effect_text = gettext_lazy(
        "New PersistentVolumeClaims that don't set a storage class no longer use this one. "
        "Existing PersistentVolumeClaims are not changed."
    )
    body = {"metadata": {"annotations": _IS_NOT}}
    done_text = gettext_lazy("%(name)s is no longer the default storage class.")

    def applicable(self, entry: Entry[Any]) -> bool:
        return bool(entry.projection.default)

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return command_of("annotate", kind, key, _IS_NOT)

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        seeing = VisibleType(subject, STORAGE_CLASSES)
        if seeing.informer is None or not seeing.sees_all(""):
            return []
        others = _others(subject)
        if not others:
            return [
                _(
                    "The cluster will have no default storage class. PersistentVolumeClaims that don't "
                    "set a storage class will stay pending."
                )
            ]
        return [
            _("Default storage classes after this change: %(names)s.") % {"names": _names(others)}
        ]


class SetDefault(Action):
    name = "set-default"
    label = gettext_lazy("Set as default")
    reads_also = (STORAGE_CLASSES,)
    title_text = gettext_lazy("Set %(kind)s %(name)s as default")
    effect_text = gettext_lazy(
        "New PersistentVolumeClaims that don't set a storage class use this one. "
        "PersistentVolumeClaims that set a storage class are not changed."
    )
    weight = 2
    needs = (Permission("patch"),)

    def applicable(self, entry: Entry[Any]) -> bool:
        return not entry.projection.default

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        taken = data["taken"] if data["others"] else ()
        lines = [command_of("annotate", kind, one.key, _IS_NOT) for one in taken]
        return " && ".join((command_of("annotate", kind, key, _IS), *lines))

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        others = _others(subject)
        if not others:
            return []
        text = _(
            "Current default storage classes: %(names)s. If there are several, Kubernetes uses "
            "the newest."
        )
        notes = [text % {"names": _names(others)}]
        fixed = [one for one in others if not self._may_unset(subject, one)]
        if fixed:
            text = _(
                "You don't have permission to unset these storage classes as default: %(names)s."
            )
            notes.append(text % {"names": _names(fixed)})
        return notes

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        return DefaultForm(data, [o for o in _others(subject) if self._may_unset(subject, o)])

    async def run(self, context: ActionContext) -> Outcome:
        """Set this default before unsetting the others, so that a default always exists."""
        await context.patch({"metadata": {"annotations": _IS}})
        text, unset = (
            _("%(name)s is now the default storage class.") % context.message_values,
            UnsetDefault(),
        )
        for other in context.data["taken"]:
            why = await context.run_related(unset, other.key, other.projection.uid)
            if why:
                words = {"name": escape_invisible(other.key.name), "why": why}
                text += " " + _("%(name)s is still a default storage class too: %(why)s") % words
        return ActionSucceeded(text)

    @staticmethod
    def _may_unset(subject: Subject, other: Entry[Any]) -> bool:
        return UnsetDefault().is_allowed(subject.access, subject.kind.gvr, other.key)


def _others(subject: Subject) -> list[Entry[Any]]:
    """Return the other visible default classes."""
    found = VisibleType(subject, STORAGE_CLASSES).all_visible
    return sorted(
        (one for one in found if one.projection.default and one.key != subject.key),
        key=lambda one: one.key,
    )


def _names(entries: Iterable[Entry[Any]]) -> str:
    return ", ".join(escape_invisible(one.key.name) for one in entries)


#: Annotation by form field.
_ANNOTATIONS = {"clone": ALLOW_CLONE, "snapshot": ALLOW_SNAPSHOT}
CHOICES: Mapping[str, str | Promise] = {
    "": gettext_lazy("Not set"),
    "true": gettext_lazy("Allowed"),
    "false": gettext_lazy("Not allowed"),
}


class OperationsForm(ConsoleForm):
    """Form for the allowed operations. `found` contains the annotations of the class."""

    error_fields: Mapping[str, str] = {"metadata.annotations": "clone"}

    def __init__(self, data: QueryDict | None, found: Mapping[str, Any]) -> None:
        begins = {field: _choice(found.get(name)) for field, name in _ANNOTATIONS.items()}
        super().__init__(data, initial=begins)
        labels = {"clone": _("Clones"), "snapshot": _("Snapshots")}
        for field, label in labels.items():
            self.fields[field] = ChoiceField(label=label, choices=list(CHOICES.items()))

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        changed = {
            name: given[field] or None
            for field, name in _ANNOTATIONS.items()
            if field in given and given[field] != self.initial[field]
        }
        self.require_changes(changed)
        return {**given, "changed": changed}


def _choice(value: object) -> str:
    return value if isinstance(value, str) and value in CHOICES else ""


class VolumeOperations(Action):
    name = "operations"
    label = gettext_lazy("Volume operations")
    title_text = gettext_lazy("Volume operations of %(kind)s %(name)s")
    button_text = gettext_lazy("Save")
    effect_text = gettext_lazy(
        "The console refuses operations that the storage class does not allow. Kubernetes "
        "does not enforce this setting, so other tools can still perform these operations."
    )
    needs = (Permission("patch"),)

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        changed = data.get("changed") or {ALLOW_CLONE: "true"}
        return command_of("annotate", kind, key, changed)

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        return OperationsForm(data, mapping(subject.manifest, "metadata", "annotations"))

    async def run(self, context: ActionContext) -> Outcome:
        await context.patch({"metadata": {"annotations": context.data["changed"]}})
        return context.succeeded(_("Saved the volume operations of %(name)s."))


RETAIN_OR_DELETE: dict[str, str | Promise] = {
    "Retain": pgettext_lazy("reclaim policy", "Retain"),
    "Delete": pgettext_lazy("reclaim policy", "Delete"),
}
#: Columns and filters that volumes and claims share.
CAPACITY = QuantityColumn(id="capacity", label=gettext_lazy("Capacity"), priority=2, unit="bytes")
ACCESS_MODES = TextColumn(id="access_modes", label=gettext_lazy("Access modes"), priority=3)
VOLUME_ATTRIBUTES = TextColumn(
    id="attributes_class", label=gettext_lazy("Attributes class"), priority=4
)
VOLUME_MODE = TextColumn(id="volume_mode", label=gettext_lazy("Volume mode"), priority=4)
STORAGE_CLASS = LinkColumn(
    id="storage_class",
    label=gettext_lazy("Storage class"),
    priority=2,
    leads_to=("storageclasses",),
)
OF_STORAGE_CLASS = FieldFilter(
    param="storageclass",
    names=STORAGE_CLASSES,
    label=gettext_lazy("Storage class"),
    get=lambda item: (item.storage_class,),
)


def reclaim_policy_column(words: dict[str, str | Promise], priority: int) -> WordColumn:
    return WordColumn(
        id="reclaim_policy",
        label=gettext_lazy("Reclaim policy"),
        priority=priority,
        words=words,
    )


def reclaim_policy_filter(words: dict[str, str | Promise]) -> ChoiceFilter:
    return ChoiceFilter(
        param="reclaim",
        label=gettext_lazy("Reclaim policy"),
        choices=tuple(words.items()),
        get=lambda item: item.reclaim_policy,
    )
