"""The actions that edit the update strategy of a workload.

https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#strategy
"""

import re
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.workloads.autoscaling import MOST
from console.actions.workloads.base import WorkloadAction
from console.ui.core.manifests import mapping, number
from console.ui.forms.forms import ChoiceField, NumberField, TextField
from console.ui.forms.spec_forms import EditSpec, SpecForm

ROLLING = "RollingUpdate"
TYPES: Mapping[str, str | Promise] = {
    ROLLING: gettext_lazy("Step by step (RollingUpdate)"),
    "Recreate": gettext_lazy("All at once (Recreate)"),
    "OnDelete": gettext_lazy("When you delete a pod (OnDelete)"),
}
WAIT = "minReadySeconds"
_SHARE = re.compile(r"[0-9]{1,9}%?")


class ShareField(TextField):
    """Field for a number of pods or a percentage, like Kubernetes' IntOrString."""

    def clean(self, value: Any) -> int | str:
        found = str(super().clean(value))
        if found and not _SHARE.fullmatch(found):
            raise ValidationError(_("Enter a number of pods, or a percentage such as 25%."))
        return int(found) if found.isdecimal() else found


class StrategyForm(SpecForm):
    """Form for the update strategy. `field` is its spec field, `types` the supported types, and
    `parts` the fields of a rolling update.
    """

    field: ClassVar[str] = "updateStrategy"
    edited_fields: ClassVar[Sequence[str]] = ("updateStrategy", WAIT)
    types: ClassVar[Sequence[str]] = (ROLLING, "OnDelete")
    parts: ClassVar[Sequence[str]]

    def __init__(
        self, data: QueryDict | None, spec: Mapping[str, Any], names: Collection[str] = ()
    ) -> None:
        super().__init__(data, spec, names)
        types = [(one, TYPES[one]) for one in self.types]
        self.fields["type"] = ChoiceField(label=_("Pod replacement"), choices=types)
        self.fields |= {part: deepcopy(_FIELDS[part]) for part in (*self.parts, WAIT)}
        rolling = {part: self._rolling.get(part) for part in self.parts}
        kind = self._strategy.get("type", ROLLING)
        self.initial = {**self.initial, "type": kind, **rolling, WAIT: self.found.get(WAIT, 0)}
        at = f"spec.{self.field}"
        self.error_fields = {
            at: "type",
            **{f"{at}.rollingUpdate.{part}": part for part in self.parts},
            f"spec.{WAIT}": WAIT,
        }

    def can_represent(self, found: Mapping[str, Any]) -> bool:
        strategy = found.get(self.field, {})
        rolling = mapping(strategy).get("rollingUpdate", {})
        return (
            isinstance(strategy, dict)
            and isinstance(rolling, dict)
            and strategy.get("type", ROLLING) in self.types
            and all(_is_share(rolling[part]) for part in self.parts if part in rolling)
            and number(found.get(WAIT, 0)) is not None
        )

    @property
    def _strategy(self) -> Mapping[str, Any]:
        return mapping(self.found, self.field)

    @property
    def _rolling(self) -> Mapping[str, Any]:
        return mapping(self._strategy, "rollingUpdate")

    def new_values(self) -> Mapping[str, Any]:
        given = self.cleaned_data
        kind, changed = given.get("type"), [part for part in self.parts if self._is_changed(part)]
        found = {**self._strategy}
        if kind != ROLLING:
            for part in changed:
                if given[part] not in (None, ""):
                    self.add_error(part, _("This field applies only to RollingUpdate."))
            found.pop("rollingUpdate", None)
        elif changed:
            rolling = {**self._rolling, **{part: given[part] for part in changed}}
            kept = {part: value for part, value in rolling.items() if value not in (None, "")}
            found["rollingUpdate"] = kept
        if kind != self.initial["type"]:
            found["type"] = kind
        return {self.field: found, WAIT: given.get(WAIT)}

    def _is_changed(self, part: str) -> bool:
        given, before = self.cleaned_data.get(part), self.initial[part]
        return part in self.cleaned_data and (given if given != "" else None) != before


def _is_share(value: object) -> bool:
    return number(value) is not None or (isinstance(value, str) and bool(_SHARE.fullmatch(value)))


_FIELDS: Mapping[str, forms.Field] = {
    "maxSurge": ShareField(
        label=gettext_lazy("Max surge"),
        help_text=gettext_lazy(
            "Maximum number of pods above the number of replicas: a number, or a percentage such "
            "as 25%."
        ),
        required=False,
    ),
    "maxUnavailable": ShareField(
        label=gettext_lazy("Max unavailable"),
        help_text=gettext_lazy(
            "Maximum number of pods below the number of replicas: a number, or a percentage such "
            "as 25%."
        ),
        required=False,
    ),
    "partition": NumberField(
        label=gettext_lazy("Partition"),
        help_text=gettext_lazy("Pods with an ordinal below this number are not updated."),
        least=0,
        most=MOST,
        required=False,
    ),
    WAIT: NumberField(
        label=gettext_lazy("Min ready seconds"),
        help_text=gettext_lazy("How long a pod must be ready before it counts as available."),
        least=0,
        most=MOST,
        required=False,
    ),
}


class DeploymentStrategyForm(StrategyForm):
    field: ClassVar[str] = "strategy"
    edited_fields: ClassVar[Sequence[str]] = ("strategy", WAIT)
    types: ClassVar[Sequence[str]] = (ROLLING, "Recreate")
    parts: ClassVar[Sequence[str]] = ("maxSurge", "maxUnavailable")


class StatefulSetStrategyForm(StrategyForm):
    parts: ClassVar[Sequence[str]] = ("partition",)


class DaemonSetStrategyForm(StrategyForm):
    parts: ClassVar[Sequence[str]] = ("maxSurge", "maxUnavailable")


class _EditStrategy(EditSpec, WorkloadAction):
    name = "strategy"
    label = gettext_lazy("Edit update strategy")
    title_text = gettext_lazy("Edit the update strategy of %(kind)s %(name)s")
    effect_text = gettext_lazy(
        "The change applies to the current rollout and to all later rollouts."
    )


class EditDeploymentStrategy(_EditStrategy):
    form = DeploymentStrategyForm


class EditStatefulSetStrategy(_EditStrategy):
    form = StatefulSetStrategyForm


class EditDaemonSetStrategy(_EditStrategy):
    form = DaemonSetStrategyForm
