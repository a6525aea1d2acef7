"""Forms that are about some fields of an object's spec: whatever else it has stays as it is.

The form knows what these fields were: only those are written that somebody changed, and none that others
have changed since.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.kube.errors import Conflict, Overtaken
from console.kube.gvr import Key
from console.ui.actions import Action, Context, Done, Outcome, Permission
from console.ui.decisions import Refused
from console.ui.forms import ConsoleForm
from console.ui.kind import ResourceKind
from console.ui.kubectl import kubectl, kubectl_patch, quoted
from console.ui.manifests import mapping
from console.ui.rowforms import Rows
from console.ui.subject import Subject
from console.ui.text import visible

#: Times that a write is tried while others change the object.
_TRIES = 3


class SpecForm(ConsoleForm):
    """`about`: the fields of the spec. `found`: what they were when it was drawn, those that there were.
    Once it is valid, `changed` has the new value of each that is to be another one, None for one that
    goes."""

    drawn_by: ClassVar[str] = "ui/_spec.html"
    script: ClassVar[str] = "js/newrows.js"
    about: ClassVar[Sequence[str]]
    was = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None, manifest: Mapping[str, Any]) -> None:
        """`manifest` is that which it is drawn with; what was sent knows its own. Raises `Refused`."""
        if data is None:
            spec = mapping(manifest, "spec")
            found: object = {name: spec[name] for name in self.about if spec.get(name) is not None}
        else:
            found = _opened(data.get("was", ""))
        self.is_whole = self._is_known(found)
        if data is None and not self.is_whole:
            raise Refused(_("It has something that this form cannot show. Edit it as YAML."))
        self.found: Mapping[str, Any] = mapping(found) if self.is_whole else {}
        super().__init__(data, initial={"was": json.dumps(self.found)})
        self.groups: Sequence[Rows] = ()
        #: Names that are offered, by the id of their list.
        self.suggestions: Mapping[str, Collection[str]] = {}

    def _is_known(self, found: object) -> bool:
        return isinstance(found, dict) and found.keys() <= {*self.about} and self.knows(found)

    def knows(self, found: Mapping[str, Any]) -> bool:
        """Whether all of it is of the sort that the form shows."""
        raise NotImplementedError

    def wanted(self) -> Mapping[str, Any]:
        """What all of them are to be. Adds the errors that it finds."""
        raise NotImplementedError

    @property
    def lines(self) -> list[forms.BoundField]:
        """Those that are in no row."""
        return [field for field in self if not any(group.owns(field.name) for group in self.groups)]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        rows = [name for name in self.data if any(group.owns(name) for group in self.groups)]
        if not self.is_whole or not self.fields.keys() >= {*rows}:
            raise ValidationError(_("The form is not complete. Load the page again."))
        wanted = self.wanted()
        if self.errors:
            return given
        changed = {
            name: value or None
            for name, value in wanted.items()
            if (value or None) != (self.found.get(name) or None)
        }
        if not changed:
            raise ValidationError(_("Nothing was changed."))
        return {**given, "changed": changed, "found": self.found}


def _opened(sent: str) -> object:
    try:
        found: object = json.loads(sent)
        # A half of a pair of surrogates is no character.
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return found


@dataclass(frozen=True, kw_only=True)
class EditSpec(Action):
    needs: ClassVar[tuple[Permission, ...]] = (Permission("patch"), Permission("get"))
    form: ClassVar[type[SpecForm]]
    reads_live: ClassVar[bool] = True

    def button(self, kind: ResourceKind) -> str | Promise:
        return _("Save")

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        if "changed" not in data:
            return kubectl(f"edit {kind.gvr.qualified} {quoted(key.name)}", key)
        return kubectl_patch(kind.gvr, key, _patch(data))

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        owner = subject.entry.projection.owner
        text = _("It is managed by %(owner)s, which may undo what is changed here.")
        return [text % {"owner": visible(owner)}] if owner else []

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        return self.form(data, subject.live)

    async def run(self, context: Context) -> Outcome:
        for _try in range(_TRIES):
            found = await context.fresh()
            spec = mapping(found, "spec")
            for name in context.data["changed"]:
                if spec.get(name) != context.data["found"].get(name):
                    raise Overtaken(f"spec.{name}")
            metadata = {"resourceVersion": found["metadata"]["resourceVersion"]}
            try:
                await context.patch({"metadata": metadata, **_patch(context.data)})
            except Conflict:
                continue
            return Done(_("Saved %(kind)s %(name)s.") % context.words)
        raise Overtaken


def _patch(data: Mapping[str, Any]) -> dict[str, Any]:
    """A merge patch. What of a mapping is to go is null there."""
    spec = {
        name: {**dict.fromkeys(mapping(data["found"].get(name))), **value}
        if isinstance(value, dict)
        else value
        for name, value in data["changed"].items()
    }
    return {"spec": spec}
