"""The action that edits the labels and annotations of an object.

The form carries a hash of each original value. Only values that the user changed are written,
and saving fails with `ChangedConcurrently` if another client changed one of them in the meantime.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.errors import ChangedConcurrently
from console.kube.gvr import Key
from console.kube.names import is_label_value
from console.kube.selectors import is_qualified
from console.ui.core.action_texts import kubectl, quoted
from console.ui.core.actions import BULK, Action, ActionContext, Outcome, Permission
from console.ui.core.manifests import LAST_APPLIED, mapping
from console.ui.core.text import escape_invisible
from console.ui.forms.fields import KeyValueField, format_pairs
from console.ui.forms.forms import ConsoleForm

if TYPE_CHECKING:
    from console.ui.core.kind import ResourceKind
    from console.ui.core.subject import Subject

SECTIONS = ("labels", "annotations")
#: Maximum characters of a value that can be edited here. kubectl stores the whole object in an
#: annotation.
LONGEST = 4096
#: Key prefixes reserved by Kubernetes:
#: https://kubernetes.io/docs/reference/labels-annotations-taints/
_RESERVED = ("kubernetes.io", "k8s.io")
#: Recommended labels under this reserved prefix are set by users.
_RECOMMENDED = "app.kubernetes.io"
#: Changes to write, by section and key: the new value, or None to remove the key.
Changes = Mapping[str, Mapping[str, str | None]]


def label_problem(key: str, value: str) -> str:
    if not is_label_value(value):
        return _(
            "“%(value)s” is not a valid label value. Use up to 63 letters, digits, “-”, “_”, and "
            "“.”."
        ) % {"value": escape_invisible(value)}
    return _key_problem(key, value)


def _key_problem(key: str, _value: str) -> str:
    if is_qualified(key):
        return ""
    text = _("“%(key)s” is not a valid key. Use up to 63 letters, digits, “-”, “_”, and “.”.")
    return text % {"key": escape_invisible(key)}


def _annotation_problem(key: str, value: str) -> str:
    return _key_problem(key.lower(), value)


class LabelsForm(ConsoleForm):
    """Edit form for labels and annotations.

    `was` contains the hashes of the values at the time the form was opened, by section and key.
    A valid form's cleaned data contains the `Changes` under `changed`.
    """

    error_fields: Mapping[str, str] = {f"metadata.{name}": name for name in SECTIONS}
    labels = KeyValueField(
        label=gettext_lazy("Labels"),
        help_text=gettext_lazy("One per line: key=value. Delete a line to remove the key."),
        check=label_problem,
    )
    annotations = KeyValueField(
        label=gettext_lazy("Annotations"),
        help_text=gettext_lazy(
            "Put a value that contains line breaks in quotes, as a JSON string."
        ),
        check=_annotation_problem,
    )
    was = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None, found: Mapping[str, Mapping[str, str]]) -> None:
        lines = {name: format_pairs(found[name]) for name in SECTIONS}
        was = {name: {k: _hash(v) for k, v in pairs.items()} for name, pairs in found.items()}
        super().__init__(data, initial={**lines, "was": json.dumps(was)})

    def clean_was(self) -> dict[str, dict[str, str]]:
        try:
            found = json.loads(self.cleaned_data["was"])
        except (ValueError, RecursionError):
            found = None
        return {
            name: {k: v for k, v in mapping(found, name).items() if isinstance(v, str)}
            for name in SECTIONS
        }

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if self.errors:
            return given
        changed = {name: dict(_changes(given["was"][name], given[name])) for name in SECTIONS}
        self.require_changes(any(changed.values()))
        return {**given, "changed": changed}


class EditLabels(Action):
    """Edit labels and annotations. Available for every kind."""

    name = "labels"
    label = gettext_lazy("Edit labels")
    title_text = gettext_lazy("Edit labels and annotations of %(kind)s %(name)s")
    button_text = gettext_lazy("Save")
    needs = (Permission("patch"), Permission("get"))

    def command(self, kind: "ResourceKind", key: Key, data: Mapping[str, Any]) -> str:
        changed: Changes = data.get("changed") or {}
        verbs = {"labels": "label", "annotations": "annotate"}
        lines = [
            command_of(verbs[name], kind, key, changed[name])
            for name in SECTIONS
            if changed.get(name)
        ]
        return " && ".join(lines) or command_of("label", kind, key, {"KEY": "VALUE"})

    def notes(self, subject: "Subject") -> Sequence[str | Promise]:
        found, left = _read(subject)
        notes = []
        reserved = [key for name in SECTIONS for key in found[name] if _is_reserved(key)]
        if reserved:
            text = _("Kubernetes uses these keys and may set them again: %(keys)s.")
            notes.append(text % {"keys": _listed(reserved)})
        if left:
            text = _("These keys are not shown here and will not be changed: %(keys)s.")
            notes.append(text % {"keys": _listed(left)})
        return notes

    def make_form(self, subject: "Subject", data: QueryDict | None) -> ConsoleForm | None:
        return LabelsForm(data, _read(subject)[0])

    async def run(self, context: ActionContext) -> Outcome:
        was, changed = context.data["was"], context.data["changed"]
        await context.patch_with_retry(lambda found: {"metadata": _pending(found, was, changed)})
        return context.succeeded(_("Saved labels and annotations of %(kind)s %(name)s."))


class ChangeLabelsForm(ConsoleForm):
    """Form for changes to the labels and annotations of several objects."""

    error_fields: Mapping[str, str] = LabelsForm.error_fields
    labels = KeyValueField(
        label=gettext_lazy("Labels to change"),
        help_text=gettext_lazy("One per line: key=value sets a key, key- removes it."),
        check=label_problem,
        removes=True,
    )
    annotations = KeyValueField(
        label=gettext_lazy("Annotations to change"), check=_annotation_problem, removes=True
    )

    def clean(self) -> dict[str, Any]:
        if not self.errors:
            self.require_changes(any(self.cleaned_data[name] for name in SECTIONS))
        return self.cleaned_data


class ChangeLabels(Action):
    """Set and remove labels and annotations of several objects, without reading the others.
    Available for every kind.
    """

    name = "change-labels"
    label = gettext_lazy("Edit labels")
    title_text = gettext_lazy("Change labels and annotations of %(kind)s %(name)s")
    button_text = gettext_lazy("Save")
    effect_text = gettext_lazy("All other labels and annotations stay unchanged.")
    needs = (Permission("patch"),)
    places = frozenset({BULK})
    form = bulk_form = ChangeLabelsForm

    async def run(self, context: ActionContext) -> Outcome:
        await context.patch({"metadata": {name: context.data[name] for name in SECTIONS}})
        return context.succeeded(_("Saved labels and annotations of %(kind)s %(name)s."))


def _read(subject: "Subject") -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return the editable labels and annotations by section, and the keys of all others."""
    found: dict[str, dict[str, str]] = {}
    left = []
    for name in SECTIONS:
        there = mapping(subject.manifest, "metadata", name)
        found[name] = {k: v for k, v in there.items() if _is_editable(k, v)}
        left += [key for key in there if key not in found[name]]
    return found, left


def _is_editable(key: str, value: object) -> bool:
    return (
        isinstance(value, str)
        and len(value) <= LONGEST
        and key != LAST_APPLIED
        and is_qualified(key.lower())
    )


def _is_reserved(key: str) -> bool:
    prefix = key.partition("/")[0] if "/" in key else ""
    return prefix != _RECOMMENDED and any(
        prefix == one or prefix.endswith(f".{one}") for one in _RESERVED
    )


def _listed(keys: Collection[str], most: int = 20) -> str:
    shown = ", ".join(escape_invisible(key) for key in list(keys)[:most])
    return f"{shown}, …" if len(keys) > most else shown


def command_of(verb: str, kind: "ResourceKind", key: Key, changes: Mapping[str, str | None]) -> str:
    """Return the kubectl command for the changes.

    `verb` is `label` or `annotate`. `changes` maps each key to its new value, or to None to
    remove the key.
    """
    words = [
        quoted(f"{name}-" if value is None else f"{name}={value}")
        for name, value in changes.items()
    ]
    object_words = f"{verb} --overwrite {kind.gvr.qualified} {quoted(key.name)}"
    return kubectl(" ".join((object_words, *words)), key)


def _hash(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()[:32]


def _changes(was: Mapping[str, str], given: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    for key, value in given.items():
        if was.get(key) != _hash(value):
            yield key, value
    for key in was:
        if key not in given:
            yield key, None


def _pending(found: Mapping[str, Any], was: Changes, changed: Changes) -> dict[str, Any]:
    """Return the changes that `found` does not already contain. Raise `ChangedConcurrently` if
    another client changed one of the edited values.
    """
    pending: dict[str, Any] = {}
    for name in SECTIONS:
        there = mapping(found, "metadata", name)
        for key, value in changed[name].items():
            now = there.get(key)
            if now == value:
                continue
            if (_hash(now) if isinstance(now, str) else None) != was[name].get(key):
                raise ChangedConcurrently(key)
            pending.setdefault(name, {})[key] = value
    return pending
