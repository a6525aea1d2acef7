"""Actions that set and unset the default storage class.

https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import STORAGE_CLASSES, Key
from console.kube.projections.storage import DEFAULT_ANNOTATIONS
from console.kube.store import Entry
from console.ui.actions import Action, Context, Done, Outcome, Patch, Permission
from console.ui.forms import ChoiceField, ConsoleForm
from console.ui.kind import ResourceKind
from console.ui.labels import command_of
from console.ui.relations.seeing import Seeing
from console.ui.subject import Subject
from console.ui.text import visible

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
            label = _("Take the default away from: %(names)s") % {"names": _names(others)}
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
    button_text = label
    effect_text = gettext_lazy(
        "New claims without a class do not use it any more. Claims that have it stay."
    )
    body = {"metadata": {"annotations": _IS_NOT}}
    done_text = gettext_lazy("%(name)s is not the default any more.")

    def applicable(self, entry: Entry[Any]) -> bool:
        return bool(entry.projection.default)

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return command_of("annotate", kind, key, _IS_NOT)

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        seeing = Seeing(subject, STORAGE_CLASSES)
        if seeing.informer is None or not seeing.sees_all(""):
            return []
        others = _others(subject)
        if not others:
            return [_("No class is the default then: claims without a class wait for one.")]
        return [_("These are the default then: %(names)s.") % {"names": _names(others)}]


class SetDefault(Action):
    name = "set-default"
    label = gettext_lazy("Set as default")
    reads_also = (STORAGE_CLASSES,)
    title_text = gettext_lazy("Set %(kind)s %(name)s as default")
    button_text = label
    effect_text = gettext_lazy(
        "New claims without a class use it. Claims that have a class stay as they are."
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
            "These are the default now: %(names)s. If several classes are, Kubernetes uses the newest."
        )
        notes = [text % {"names": _names(others)}]
        fixed = [one for one in others if not self._may_unset(subject, one)]
        if fixed:
            text = _("You may not take the default away from: %(names)s.")
            notes.append(text % {"names": _names(fixed)})
        return notes

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        return DefaultForm(data, [o for o in _others(subject) if self._may_unset(subject, o)])

    async def run(self, context: Context) -> Outcome:
        """Set this default before unsetting the others, so that a default always exists."""
        await context.patch({"metadata": {"annotations": _IS}})
        text, unset = _("%(name)s is the default now.") % context.words, UnsetDefault()
        for other in context.data["taken"]:
            why = await context.also(unset, other.key, other.projection.uid)
            if why:
                words = {"name": visible(other.key.name), "why": why}
                text += " " + _("%(name)s still is, too: %(why)s") % words
        return Done(text)

    @staticmethod
    def _may_unset(subject: Subject, other: Entry[Any]) -> bool:
        return UnsetDefault().may(subject.access, subject.kind.gvr, other.key)


def _others(subject: Subject) -> list[Entry[Any]]:
    """Return the other visible default classes."""
    found = Seeing(subject, STORAGE_CLASSES).everywhere
    return sorted(
        (one for one in found if one.projection.default and one.key != subject.key),
        key=lambda one: one.key,
    )


def _names(entries: Iterable[Entry[Any]]) -> str:
    return ", ".join(visible(one.key.name) for one in entries)
