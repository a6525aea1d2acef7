"""Forms that edit selected fields of an object's spec and leave all other fields unchanged.

The form carries the original values. Only fields that the user changed are written, and saving
fails with `ChangedConcurrently` if another client changed one of them in the meantime.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.errors import ChangedConcurrently
from console.kube.gvr import Key
from console.kube.merging import merge_patch
from console.ui.core.action_texts import kubectl_patch, owner_notes
from console.ui.core.actions import Action, ActionContext, Outcome, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mapping
from console.ui.core.permissions import Refused
from console.ui.core.subject import Subject
from console.ui.details.relations.visible_type import VisibleType
from console.ui.forms.forms import ConsoleForm
from console.ui.forms.row_forms import FormRows, SubmittedRow


class SpecForm(ConsoleForm):
    """Form for the spec fields in `edited_fields`.

    `found` contains the original values of the fields that exist. A valid form's cleaned data
    contains the new value of each changed field under `changed`, None for a removed field.
    """

    form_template: ClassVar[str] = "ui/_spec.html"
    script: ClassVar[str] = "js/newrows.js"
    edited_fields: ClassVar[Sequence[str]]
    was = forms.CharField(widget=forms.HiddenInput)

    def __init__(
        self, data: QueryDict | None, spec: Mapping[str, Any], names: Collection[str] = ()
    ) -> None:
        """Build an unbound form from `spec`. A bound form uses the original values that were
        submitted with it. `names` are suggested names of other objects.

        Raise `Refused` if the form can't represent the spec.
        """
        found = self.editable_part(spec) if data is None else _opened(data.get("was", ""))
        self.is_whole = self._is_known(found)
        if data is None and not self.is_whole:
            raise Refused(
                _(
                    "This object has settings that the form cannot show. Edit the object as YAML instead."
                )
            )
        self.found: Mapping[str, Any] = mapping(found) if self.is_whole else {}
        super().__init__(data, initial={"was": json.dumps(self.found)})
        self.names = names
        self.groups: Sequence[FormRows] = ()
        #: Suggested values, by the id of their datalist.
        self.suggestions: Mapping[str, Collection[str]] = {}

    @classmethod
    def editable_part(cls, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Return the subset of `spec` that this form edits."""
        return {name: spec[name] for name in cls.edited_fields if spec.get(name) is not None}

    def _is_known(self, found: object) -> bool:
        return (
            isinstance(found, dict)
            and found.keys() <= {*self.edited_fields}
            and self.can_represent(found)
        )

    def can_represent(self, found: Mapping[str, Any]) -> bool:
        """Return True if the form can represent every value in `found`."""
        raise NotImplementedError

    def new_values(self) -> Mapping[str, Any]:
        """Return the new values of all fields, and add errors for invalid ones."""
        raise NotImplementedError

    @property
    def lines(self) -> list[forms.BoundField]:
        """Fields that don't belong to a row."""
        return [field for field in self if not any(group.owns(field.name) for group in self.groups)]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        rows = [name for name in self.data if any(group.owns(name) for group in self.groups)]
        if not self.is_whole or not self.fields.keys() >= {*rows}:
            raise ValidationError(_("The form is incomplete. Reload the page."))
        wanted = self.new_values()
        if self.errors:
            return given
        changed = {
            name: value or None
            for name, value in wanted.items()
            if (value or None) != (self.found.get(name) or None)
        }
        self.require_changes(changed)
        return {**given, "changed": changed, "found": self.found}

    def add_row_error(self, row: SubmittedRow, part: str, text: str) -> None:
        """Add an error to a row's field unless that field already has one."""
        field = f"{row.name}-{part}"
        if field not in self.errors:
            self.add_error(field, text)

    def map_causes(self, at: str, row: SubmittedRow, parts: Mapping[str, str]) -> None:
        """Map causes reported by kube-apiserver to a row's fields. `parts` contains the field name
        by its path below `at`.
        """
        found = {f"{at}.{below}".rstrip("."): f"{row.name}-{part}" for below, part in parts.items()}
        self.error_fields = {**self.error_fields, **found}


def _opened(sent: str) -> object:
    try:
        found: object = json.loads(sent)
        # Reject unpaired surrogates, which can't be encoded.
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return found


class EditSpec(Action):
    needs = (Permission("patch"), Permission("get"))
    form: ClassVar[type[SpecForm]]
    reads_live = True
    has_preview = True
    button_text = gettext_lazy("Save")

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return kubectl_patch(kind.gvr, key, _patch(data)) if "changed" in data else ""

    def spec_path(self, kind: ResourceKind) -> tuple[str, ...]:
        """Return the path of the edited spec in the object."""
        return ("spec",)

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        return owner_notes(subject.entry.projection.owner)

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        spec = mapping(subject.live, *self.spec_path(subject.kind))
        return self.form(data, spec, self.suggested_names(subject))

    def suggested_names(self, subject: Subject) -> list[str]:
        """Return the visible objects of the types in `reads_also` in the object's namespace."""
        found = {name for gvr in self.reads_also for name in VisibleType(subject, gvr).names}
        return sorted(found)

    async def run(self, context: ActionContext) -> Outcome:
        place = self.spec_path(context.kind)

        def body(found: Mapping[str, Any]) -> Mapping[str, Any]:
            part = self.form.editable_part(mapping(found, *place))
            for name in context.data["changed"]:
                if part.get(name) != context.data["found"].get(name):
                    raise ChangedConcurrently(".".join((*place, name)))
            return {}

        await context.patch_with_retry(body, partial(self.write, context))
        return context.succeeded(_("Saved %(kind)s %(name)s."))

    async def write(self, context: ActionContext, body: Mapping[str, Any]) -> None:
        """Write the changes. `body` contains the precondition, the expected resource version."""
        await context.patch({**body, **_patch(context.data)})


def _patch(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a merge patch with the changes."""
    changed, found = data["changed"], data["found"]
    before = {name: found[name] for name in changed if name in found}
    after = {name: value for name, value in changed.items() if value is not None}
    return {"spec": merge_patch(before, after)}
