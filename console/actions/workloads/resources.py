"""The action that sets resource requests and limits of a workload's containers.

https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.workloads.base import template_containers
from console.actions.workloads.rollouts import ReplacesPods
from console.kube.errors import ChangedConcurrently
from console.kube.gvr import Key
from console.kube.quantity import parse_quantity
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl_patch
from console.ui.core.actions import ActionContext, Outcome, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mapping, text
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import ConsoleForm, TextField
from console.ui.forms.row_forms import FormRows, SubmittedRow

#: Maximum characters. Quantities written by Kubernetes have about a dozen.
_LONGEST = 32
#: Path in a container's resources, by field of a row.
_PARTS = {
    "cpu_request": ("requests", "cpu"),
    "cpu_limit": ("limits", "cpu"),
    "memory_request": ("requests", "memory"),
    "memory_limit": ("limits", "memory"),
}
_LABELS: Mapping[str, str | Promise] = {
    "cpu_request": gettext_lazy("CPU request"),
    "cpu_limit": gettext_lazy("CPU limit"),
    "memory_request": gettext_lazy("Memory request"),
    "memory_limit": gettext_lazy("Memory limit"),
}


@dataclass(frozen=True, slots=True)
class ContainerResources:
    """A container of a pod template. `amounts` contains the quantity of each field, or "". `at` is
    the index in its group.
    """

    group: str
    name: str
    at: int
    amounts: Mapping[str, str]


def containers(manifest: Mapping[str, Any]) -> Iterator[ContainerResources]:
    """Yield the containers of the pod template, init containers last."""
    for group, at, container, found in template_containers(manifest):
        resources = mapping(found, "resources")
        amounts = {
            part: text(mapping(resources, sort).get(name)) for part, (sort, name) in _PARTS.items()
        }
        yield ContainerResources(group, container, at, amounts)


class AmountField(TextField):
    """Field for an optional quantity."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=_LONGEST, required=False, **options)

    def clean(self, value: Any) -> str:
        found = str(super().clean(value))
        amount = parse_quantity(found) if found else 0
        if amount is None or amount < 0:
            raise ValidationError(
                _("“%(text)s” is not a valid quantity.") % {"text": escape_invisible(found)}
            )
        return found


@dataclass(frozen=True, slots=True)
class ResourcesChange:
    """The changed quantities of a container, by field."""

    container: ContainerResources
    amounts: Mapping[str, str]


class ResourcesForm(ConsoleForm):
    """Form with the resources of each container.

    `found` contains the containers from the cache. A valid form's cleaned data contains the
    `ResourcesChange` objects under `changed`.
    """

    form_template: ClassVar[str] = "ui/_spec.html"
    suggestions: ClassVar[Mapping[str, Collection[str]]] = {}
    was = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None, found: Sequence[ContainerResources]) -> None:
        was = json.dumps([[one.group, one.name, one.amounts] for one in found])
        super().__init__(data, initial={"was": was})
        self._found = found
        self._rows = FormRows(
            self,
            "containers",
            lambda _begins: {part: AmountField(label=label) for part, label in _LABELS.items()},
            found=[one.amounts for one in found],
            titles=[one.name for one in found],
            heading=_("Containers"),
            hint=_(
                "CPU in cores or millicores, such as 0.5 or 500m. Memory in bytes with a unit, such "
                "as 256Mi or 2Gi. Leave a field empty to set no value."
            ),
        )
        self.groups = (self._rows,)

    @property
    def lines(self) -> list[forms.BoundField]:
        return [self["was"]]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("was") != self.initial["was"]:
            raise ValidationError(
                _(
                    "The containers have changed since this page was loaded. Reload the page and try "
                    "again."
                )
            )
        changed = []
        for row, one in zip(self._rows.rows_to_keep(), self._found, strict=True):
            place = f"spec.template.spec.{one.group}[{one.at}].resources"
            paths = {
                f"{place}.{sort}": f"{row.name}-{part}" for part, (sort, _name) in _PARTS.items()
            }
            self.error_fields = {**self.error_fields, **paths}
            amounts = {part: str(row.values[part]) for part in _PARTS if row.changed(part)}
            for name in ("cpu", "memory"):
                if _is_above(row, f"{name}_request", f"{name}_limit"):
                    self.add_error(
                        f"{row.name}-{name}_request", _("The request is higher than the limit.")
                    )
            if amounts:
                changed.append(ResourcesChange(one, amounts))
        self.require_changes(changed)
        return given if self.errors else {**given, "changed": changed}


def _is_above(row: SubmittedRow, request: str, limit: str) -> bool:
    asked, most = (parse_quantity(str(row.values[part])) for part in (request, limit))
    return asked is not None and most is not None and asked > most


class SetResources(ReplacesPods):
    name = "set-resources"
    label = gettext_lazy("Set resources")
    title_text = gettext_lazy("Set resources of %(kind)s %(name)s")
    needs = (Permission("patch"), Permission("get"))
    has_preview = True

    def applicable(self, entry: Entry[Any]) -> bool:
        return bool(entry.projection.containers)

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        if "changed" not in data:
            return ""
        return kubectl_patch(kind.gvr, key, _patch(data["changed"]), "strategic")

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        return ResourcesForm(data, [*containers(subject.entry.original())])

    async def run(self, context: ActionContext) -> Outcome:
        changed: Sequence[ResourcesChange] = context.data["changed"]

        def body(found: Mapping[str, Any]) -> Mapping[str, Any]:
            there = {(one.group, one.name): one.amounts for one in containers(found)}
            for change in changed:
                one = change.container
                # A strategic merge patch would add a container that was removed in the meantime.
                if there.get((one.group, one.name)) != one.amounts:
                    raise ChangedConcurrently(one.name)
            return _patch(changed)

        await context.patch_with_retry(body, context.strategic_patch)
        return context.started(_("Set resources of %(kind)s %(name)s."))


def _patch(changed: Sequence[ResourcesChange]) -> dict[str, Any]:
    """Return a strategic merge patch with the changes."""
    spec: dict[str, list[Any]] = {}
    for change in changed:
        resources: dict[str, dict[str, str | None]] = {}
        for part, amount in change.amounts.items():
            sort, name = _PARTS[part]
            resources.setdefault(sort, {})[name] = amount or None
        named = {"name": change.container.name, "resources": resources}
        spec.setdefault(change.container.group, []).append(named)
    return {"spec": {"template": {"spec": spec}}}
