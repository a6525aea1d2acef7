"""Forms for workspaces. The services validate names and roles."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from console.kube.quantity import Amounts, parse_amounts
from console.saved.models import MAX_DESCRIPTION, MAX_NAME
from console.ui.core.clusters import clusters
from console.ui.core.kind_names import amount_text, resource_label
from console.ui.core.permissions import Refused
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import CheckField, ChoiceField, ConsoleForm, TextField
from console.ui.usage.quota_previews import QuotaChange
from workspaces.quotas import RESOURCES, order_resources, parse_amount
from workspaces.services.limits import LIMITS, REQUESTS
from workspaces.services.projects import check_name

Choices = Iterable[tuple[str, str]]


class UserField(TextField):
    """A username, see `WorkspaceForm.suggest_users`."""


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

    def suggest_users(self, url: str) -> None:
        """Offer users while the viewer types a username. `url` returns them as options."""
        for field in self.fields.values():
            if isinstance(field, UserField):
                field.widget.attrs |= {
                    "list": "found-users",
                    "hx-get": url,
                    "hx-trigger": "input delay:250ms",
                    "hx-target": "#found-users",
                    "hx-sync": "this:replace",
                }

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
        super().__init__(label=gettext_lazy("Name"), help_text=hint, size="medium")

    def clean(self, value: Any) -> Any:
        name = super().clean(value)
        try:
            check_name(name)
        except Refused as refused:
            raise ValidationError(str(refused)) from refused
        return name


class SettingsForm(WorkspaceForm):
    alias = TextField(label=gettext_lazy("Alias"), is_optional=True)
    description = TextField(label=gettext_lazy("Description"), is_optional=True)
    manager = UserField(label=gettext_lazy("Manager"), size="medium")
    isolated = CheckField(label=gettext_lazy("Accept traffic only from this workspace"))


class TemplateForm(WorkspaceForm):
    name = TextField(label=gettext_lazy("Name"), max_length=MAX_NAME, size="medium")
    description = TextField(
        label=gettext_lazy("Description"), max_length=MAX_DESCRIPTION, is_optional=True
    )


class NewWorkspaceForm(WorkspaceForm):
    error_fields = {"metadata.name": "name"}

    name = _Name()
    alias = TextField(label=gettext_lazy("Alias"), is_optional=True)
    manager = UserField(label=gettext_lazy("Manager"), size="medium")
    description = TextField(label=gettext_lazy("Description"), is_optional=True)


class DeleteWorkspaceForm(WorkspaceForm):
    keep = CheckField(label=gettext_lazy("Keep the projects"))


class RoleForm(WorkspaceForm):
    role = ChoiceField(label=gettext_lazy("Role"))


class MemberForm(RoleForm):
    field_order = ("user", "role")

    user = UserField(label=gettext_lazy("User"), size="medium")


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


@dataclass(frozen=True, slots=True)
class Grant:
    """A field for an amount. `change` is the workspace quota with this amount, None without one."""

    field: forms.BoundField
    change: QuotaChange | None


@dataclass(frozen=True, slots=True)
class GrantGroup:
    """Fields below a heading. `now` says in words which amounts apply."""

    title: str
    now: str
    grants: Sequence[Grant]

    @property
    def is_open(self) -> bool:
        return any(one.field.value() or one.field.errors for one in self.grants)


class QuotaForm(WorkspaceForm):
    """One field for each standard resource and each other resource in the quota.

    `left` contains the part of each limit in `total` that is left in the workspace quota.
    """

    form_template = "workspaces/_quota_fields.html"

    def __init__(
        self,
        hard: Mapping[str, str],
        data: QueryDict | None = None,
        *,
        left: Amounts | None = None,
        total: Amounts | None = None,
    ) -> None:
        super().__init__(data, initial=dict(hard))
        self.left, self.total = left or {}, total or {}
        names, known = (
            order_resources({**dict.fromkeys(RESOURCES, ""), **hard}),
            clusters.host.kinds,
        )
        for name in names:
            label = escape_invisible(resource_label(known, name))
            hint = _quota_hint(name, self.left, self.total)
            self.fields[name] = AmountField(label=label, help_text=hint, size="short")
            self.fields[name].widget.attrs["placeholder"] = _("No limit")
        self.error_fields = {**self.error_fields, **{f"spec.hard[{name}]": name for name in names}}

    @property
    def lines(self) -> list[forms.BoundField]:
        return [one for one in super().lines if not isinstance(one.field, AmountField)]

    @property
    def groups(self) -> list[GrantGroup]:
        """The fields for amounts: requests, limits, and counts of objects."""
        found: dict[str, list[Grant]] = {"requests": [], "limits": [], "": []}
        for bound in self:
            if isinstance(bound.field, AmountField):
                start = bound.name.partition(".")[0]
                grant = Grant(bound, self._change(bound))
                found[start if start in found else ""].append(grant)
        titles = {"requests": _("Requests"), "limits": _("Limits"), "": _("Object counts")}
        return [
            GrantGroup(titles[name], _now(grants), grants)
            for name, grants in found.items()
            if grants
        ]

    def _change(self, bound: forms.BoundField) -> QuotaChange | None:
        name, total = bound.name, self.total.get(bound.name)
        if total is None:
            return None
        used = total - self.left.get(name, total)
        added = parse_amount(str(bound.value() or "")) or Decimal(0)
        return QuotaChange(name, str(bound.label), used, added, total)

    def clean(self) -> None:
        """Report amounts that exceed the remaining quota of the workspace."""
        for name, amount in self.amounts.items():
            left = self.left.get(name)
            if left is not None and amount > left:
                text = _(
                    "The workspace has %(left)s left. Enter %(left)s or less, or ask a workspace "
                    "administrator for more."
                )
                self._refuse(name, text % {"left": amount_text(name, left)})

    def _refuse(self, name: str, text: str) -> None:
        self.add_error(name, text)

    @property
    def amounts(self) -> Amounts:
        """The amounts of the fields that are filled in, by resource."""
        return {
            name: self.cleaned_data[name]
            for name, field in self.fields.items()
            if isinstance(field, AmountField) and self.cleaned_data.get(name) is not None
        }


def _now(grants: Iterable[Grant]) -> str:
    amounts = [f"{one.field.label}: {value}" for one in grants if (value := one.field.value())]
    return escape_invisible(", ".join(amounts)) or _("No limit")


def _quota_hint(resource: str, left: Amounts, total: Amounts) -> str:
    """Return the unit of a resource, what is left of it in the workspace, and its name."""
    cores = resource.endswith("cpu")
    if cores:
        unit = _("In cores, for example 2 or 500m.")
    elif resource.endswith(("memory", "storage")):
        unit = _("In bytes, for example 4Gi.")
    else:
        unit = _("A whole number.")
    hints = [unit]
    if resource in left and resource in total:
        text = (
            _("%(left)s of %(total)s cores left in the workspace.")
            if cores
            else _("%(left)s of %(total)s left in the workspace.")
        )
        shown = (amount_text(resource, amounts[resource]) for amounts in (left, total))
        hints.append(text % dict(zip(("left", "total"), shown, strict=True)))
    return f"{escape_invisible(resource)} · {' '.join(hints)}"


SHARED, CUSTOM = "shared", "custom"
#: Amounts of the quotas that can be chosen by size.
SIZES: Mapping[str, Mapping[str, str]] = {
    "small": {"requests.cpu": "2", "requests.memory": "4Gi", "requests.storage": "20Gi"},
    "medium": {"requests.cpu": "8", "requests.memory": "16Gi", "requests.storage": "100Gi"},
}
_SIZE_TEXT = gettext_lazy("%(cpu)s cores, %(memory)s memory, %(storage)s storage")


class _SizeField(ChoiceField):
    """The size of a quota. Clients that send only amounts mean their amounts."""

    def clean(self, value: Any) -> Any:
        return super().clean(value or CUSTOM)


class NewProjectForm(QuotaForm):
    error_fields = {"metadata.name": "name"}
    rendered_by_page = ("size",)

    name = _Name()
    alias = TextField(label=gettext_lazy("Alias"), is_optional=True)
    description = TextField(label=gettext_lazy("Description"), is_optional=True)
    size = _SizeField(
        label=gettext_lazy("Quota"),
        choices=[(name, name) for name in (SHARED, *SIZES, CUSTOM)],
        initial=SHARED,
    )

    @property
    def sizes(self) -> list[tuple[str, str, str]]:
        """Value, label and explanation of each size."""
        labels = {
            "small": pgettext("quota size", "Small"),
            "medium": pgettext("quota size", "Medium"),
        }
        return [
            (
                SHARED,
                pgettext("quota size", "Shared"),
                _("No separate quota. Uses the remaining quota of the workspace."),
            ),
            *(
                (name, labels[name], str(_SIZE_TEXT) % _words(amounts))
                for name, amounts in SIZES.items()
            ),
            (CUSTOM, _("Custom"), _("Enter the amounts.")),
        ]

    @property
    def amounts(self) -> Amounts:
        size = self.cleaned_data.get("size")
        if size == CUSTOM or size is None:
            return super().amounts
        return parse_amounts(dict(SIZES.get(size, {})))

    def _refuse(self, name: str, text: str) -> None:
        custom = self.cleaned_data.get("size") in (CUSTOM, None)
        self.add_error(
            name if custom else "size", text if custom else f"{self[name].label}: {text}"
        )


def _words(amounts: Mapping[str, str]) -> dict[str, str]:
    """Return amounts by the last part of their names."""
    return {name.rpartition(".")[2]: amount for name, amount in amounts.items()}


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
