"""Forms for workspaces. The services validate names and roles."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.ui.core.clusters import clusters
from console.ui.core.kind_names import resource_label
from console.ui.core.permissions import Refused
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import CheckField, ChoiceField, ConsoleForm, TextField
from workspaces.quantities import Amounts
from workspaces.quotas import RESOURCES, order_resources, parse_amount
from workspaces.services.limits import LIMITS, REQUESTS
from workspaces.services.projects import check_name

Choices = Iterable[tuple[str, str]]


class WorkspaceForm(ConsoleForm):
    """Base class of the forms. `choices` contains the choices of fields that depend on existing
    objects.
    """

    ids = "workspace-%s"

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        choices: Mapping[str, Choices] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(data, **options)
        for name, found in (choices or {}).items():
            self.fields[name].choices = list(found)  # type: ignore[attr-defined]

    def show_conflict(self) -> None:
        """Report that another user saved first, and show the current value of each field that
        differs from the input.
        """
        text = _(
            "Another user changed these values in the meantime. Saving again overwrites the "
            "current values."
        )
        self.errors[NON_FIELD_ERRORS] = self.error_class([text])
        for name in self.changed_data:
            bound = self[name]
            labels = dict(getattr(bound.field, "choices", ()))
            value = labels.get(bound.initial, bound.initial) or "—"
            bound.help_text = _("Current value: %(value)s") % {"value": value}


class _Name(TextField):
    def __init__(self) -> None:
        hint = gettext_lazy(
            "Use lowercase letters, digits and hyphens (-). The name cannot be changed later."
        )
        super().__init__(label=gettext_lazy("Name"), help_text=hint)

    def clean(self, value: Any) -> Any:
        name = super().clean(value)
        try:
            check_name(name)
        except Refused as refused:
            raise ValidationError(str(refused)) from refused
        return name


class SettingsForm(WorkspaceForm):
    alias = TextField(label=gettext_lazy("Alias"), required=False)
    description = TextField(label=gettext_lazy("Description"), required=False)
    manager = TextField(label=gettext_lazy("Manager"))
    isolated = CheckField(label=gettext_lazy("Accept traffic only from this workspace"))


class NewWorkspaceForm(WorkspaceForm):
    error_fields = {"metadata.name": "name"}

    name = _Name()
    alias = TextField(label=gettext_lazy("Alias"), required=False)
    manager = TextField(label=gettext_lazy("Manager"))
    description = TextField(label=gettext_lazy("Description"), required=False)


class DeleteWorkspaceForm(WorkspaceForm):
    """Confirmation form for deleting the workspace `name`."""

    keep = CheckField(label=gettext_lazy("Keep the projects"))
    typed = TextField(label=gettext_lazy("Type the workspace name to confirm"))

    def __init__(self, name: str, data: QueryDict | None = None) -> None:
        super().__init__(data)
        self._name = name

    def clean_typed(self) -> None:
        if self.cleaned_data["typed"] != self._name:
            raise ValidationError(_("The text does not match the workspace name."))


class RoleForm(WorkspaceForm):
    role = ChoiceField(label=gettext_lazy("Role"))


class MemberForm(RoleForm):
    field_order = ("user", "role")

    user = TextField(label=gettext_lazy("User"))


class NewDepartmentForm(WorkspaceForm):
    title = TextField(label=gettext_lazy("Name"))
    parent = ChoiceField(label=gettext_lazy("Parent department"))


class DepartmentForm(RoleForm):
    add = ChoiceField(label=gettext_lazy("Add member"))
    leave = ChoiceField(label=gettext_lazy("Remove member"))


class AmountField(TextField):
    """Field for a quantity. An empty field is None."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, **options)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        amount = parse_amount(text) if text else None
        if text and amount is None:
            raise ValidationError(_("Enter an amount such as 2, 500m or 4Gi."))
        return amount


class QuotaForm(WorkspaceForm):
    """One field for each standard resource and each other resource in the quota."""

    def __init__(self, hard: Mapping[str, str], data: QueryDict | None = None) -> None:
        super().__init__(data, initial=dict(hard))
        names, known = (
            order_resources({**dict.fromkeys(RESOURCES, ""), **hard}),
            clusters.host.kinds,
        )
        for name in names:
            label = escape_invisible(resource_label(known, name))
            self.fields[name] = AmountField(label=label, help_text=escape_invisible(name))
        self.error_fields = {**self.error_fields, **{f"spec.hard[{name}]": name for name in names}}

    @property
    def amounts(self) -> Amounts:
        """The amounts of the fields that are filled in, by resource."""
        return {
            name: self.cleaned_data[name]
            for name, field in self.fields.items()
            if isinstance(field, AmountField) and self.cleaned_data[name] is not None
        }


class NewProjectForm(QuotaForm):
    error_fields = {"metadata.name": "name"}

    name = _Name()
    alias = TextField(label=gettext_lazy("Alias"), required=False)
    description = TextField(label=gettext_lazy("Description"), required=False)


class LimitsForm(WorkspaceForm):
    """Default requests and limits of containers. `stored` contains the saved values by key and
    resource.
    """

    def __init__(
        self, stored: Mapping[str, Mapping[str, str]], data: QueryDict | None = None
    ) -> None:
        super().__init__(data)
        labels = {
            (REQUESTS, "cpu"): _("CPU request"),
            (LIMITS, "cpu"): _("CPU limit"),
            (REQUESTS, "memory"): _("Memory request"),
            (LIMITS, "memory"): _("Memory limit"),
        }
        for (key, resource), label in labels.items():
            initial = stored[key].get(resource, "")
            self.fields[f"{key}.{resource}"] = AmountField(label=label, initial=initial)

    def clean(self) -> None:
        amounts = self.amounts
        for resource, limit in amounts[LIMITS].items():
            if amounts[REQUESTS].get(resource, limit) > limit:
                self.add_error(f"{REQUESTS}.{resource}", _("The request exceeds the limit."))

    @property
    def amounts(self) -> dict[str, Amounts]:
        found: dict[str, Amounts] = {REQUESTS: {}, LIMITS: {}}
        for name, amount in self.cleaned_data.items():
            key, _dot, resource = name.partition(".")
            if amount is not None:
                found[key][resource] = amount
        return found
