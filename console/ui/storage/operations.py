"""The action that allows or forbids clones and snapshots in a storage class.

Kubernetes has no field for this. The annotations are defined by KubeSphere, whose controller
sets them according to the capabilities of the driver.
"""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import Key
from console.kube.projections.storage import ALLOW_CLONE, ALLOW_SNAPSHOT
from console.ui.actions import Action, ActionContext, ActionSucceeded, Outcome, Permission
from console.ui.forms import ChoiceField, ConsoleForm
from console.ui.kind import ResourceKind
from console.ui.labels import command_of
from console.ui.manifests import mapping
from console.ui.subject import Subject

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
        if not changed and not self.errors:
            raise ValidationError(_("No changes were made."))
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
        return ActionSucceeded(
            _("Saved the volume operations of %(name)s.") % context.message_values
        )
