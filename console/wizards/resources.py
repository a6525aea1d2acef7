"""Requests and limits of containers, with what the project allows, and GPUs."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import LIMIT_RANGES
from console.ui.core.gpus import is_extended_resource
from console.ui.wizard import fields
from console.ui.wizard.fields import CPU_UNITS, MEMORY_UNITS, Check, Text, amount_of
from console.ui.wizard.parts import BoundPart, Group
from console.ui.wizard.paths import ABSENT, Blocked, remove_at, write_at
from console.ui.wizard.state import FieldScope

#: Maximum number of types of devices on nodes that are offered.
_MAX_DEVICES = 12
#: Resource names of usual device plugins, offered if nothing is known about the cluster's devices.
_USUAL: Mapping[str, Text] = {
    "nvidia.com/gpu": "NVIDIA",
    "amd.com/gpu": "AMD",
    "gpu.intel.com/i915": "Intel",
}


def _not_below_request(resource: str) -> Check:
    """Return the check of a limit against the request beside it."""

    def check(value: Any, scope: FieldScope) -> Text:
        request, limit = amount_of(scope.get("requests", resource)), amount_of(value)
        if request is None or limit is None or limit >= request:
            return ""
        words = {"least": scope.get("requests", resource)}
        return _("The limit must be at least the request. Enter %(least)s or more.") % words

    return check


def _of_containers(scope: FieldScope) -> Iterator[Mapping[str, Any]]:
    """Yield the limits for containers of the project's LimitRanges that the viewer may list."""
    for entry in scope.state.context.entries(LIMIT_RANGES):
        for limit in entry.original().get("spec", {}).get("limits") or ():
            if limit.get("type") == "Container":
                yield limit


def _allowed(resource: str, default: str) -> Any:
    """Return the function that says what the project allows. `default` is a field of LimitRanges."""

    def text(_value: Any, scope: FieldScope) -> Text:
        found: dict[str, str] = {}
        for limit in _of_containers(scope):
            for name in (default, "min", "max"):
                if amount := (limit.get(name) or {}).get(resource):
                    found.setdefault(name, str(amount))
        least, most = found.get("min"), found.get("max")
        words = {"least": least, "most": most, "usual": found.get(default)}
        parts = []
        if found.get(default):
            parts.append(_("Default of the project: %(usual)s.") % words)
        if least and most:
            parts.append(_("Project allows %(least)s to %(most)s.") % words)
        elif least:
            parts.append(_("Project allows %(least)s or more.") % words)
        elif most:
            parts.append(_("Project allows up to %(most)s.") % words)
        return " ".join(parts)

    return text


def _amounts(resource: str, request: Text, limit: Text, units: Mapping[str, Text]) -> Group:
    return Group(
        pairs=True,
        path=("resources",),
        parts=(
            fields.QuantityInput(
                id=f"{resource}-request",
                path=("requests", resource),
                label=request,
                units=units,
                placeholder=gettext_lazy("No request"),
                finding=_allowed(resource, "defaultRequest"),
            ),
            fields.QuantityInput(
                id=f"{resource}-limit",
                path=("limits", resource),
                label=limit,
                units=units,
                placeholder=gettext_lazy("No limit"),
                check=_not_below_request(resource),
                finding=_allowed(resource, "default"),
            ),
        ),
    )


@dataclass(frozen=True, kw_only=True)
class GpuInput(fields.QuantityInput):
    """A number of GPUs: a limit, and the request, which must be the same."""

    size: str = "number"
    control: ClassVar[str] = "number"

    def clean(self, text: str) -> Any:
        value = super().clean(text)
        if value is not ABSENT and not value.isdigit():
            raise fields.InvalidInput(_("Use a whole number."))
        return value

    def apply(self, scope: FieldScope) -> None:
        before = scope.get(*self.place)
        super().apply(scope)
        value = scope.get(*self.place)
        request = (*scope.base, "requests", *self.place[1:])
        if value is ABSENT and before is not ABSENT:
            remove_at(scope.document, request, scope.floor)
        elif value != before:
            with suppress(Blocked):
                write_at(scope.document, request, value)

    def strip(self, scope: FieldScope) -> None:
        request = ("requests", *self.place[1:])
        if scope.get(*request) == scope.get(*self.place):
            remove_at(scope.document, (*scope.base, *request), scope.floor)
        super().strip(scope)


RESOURCES = Group(
    title=gettext_lazy("Resources"),
    hint=gettext_lazy("per container; 1,000m is one CPU core"),
    parts=(
        _amounts("cpu", gettext_lazy("CPU request"), gettext_lazy("CPU limit"), CPU_UNITS),
        _amounts(
            "memory", gettext_lazy("Memory request"), gettext_lazy("Memory limit"), MEMORY_UNITS
        ),
    ),
)


@dataclass(frozen=True, kw_only=True)
class DeviceFields:
    """Numbers of GPUs and other devices: those in the cluster's configuration, those of nodes that the
    viewer may see, and those that the container already requests.
    """

    def _labels(self, scope: FieldScope) -> Mapping[str, Text]:
        """Return the labels of devices by resource."""
        context, held = scope.state.context, scope.get("resources", "limits")
        found: dict[str, Text] = {one.resource: one.label for one in context.gpu_kinds()}
        for name in context.devices()[:_MAX_DEVICES]:
            if is_extended_resource(name):
                found.setdefault(name, _USUAL.get(name, name))
        more: Mapping[str, Text] = {} if found else _USUAL
        for name in (*more, *(held if isinstance(held, dict) else ())):
            if isinstance(name, str) and is_extended_resource(name):
                found.setdefault(name, _USUAL.get(name, name))
        return found

    def _group(self, scope: FieldScope) -> Group:
        labels = self._labels(scope)
        return Group(
            title=gettext_lazy("GPU"),
            is_advanced=True,
            now=lambda inside: _devices_now(inside, labels),
            path=("resources",),
            pairs=True,
            parts=[
                GpuInput(
                    id=f"gpu-{re.sub('[^A-Za-z0-9]+', '-', name)}",
                    path=("limits", name),
                    label=label,
                    hint=name if label != name else "",
                    units={"": ""},
                )
                for name, label in labels.items()
            ],
        )

    def bind(self, scope: FieldScope) -> BoundPart:
        return self._group(scope).bind(scope)

    def apply(self, scope: FieldScope) -> None:
        self._group(scope).apply(scope)

    def strip(self, scope: FieldScope) -> None:
        self._group(scope).strip(scope)

    def drop_unused(self, scope: FieldScope) -> None:
        return


def _devices_now(scope: FieldScope, labels: Mapping[str, Text]) -> Text:
    found = [
        f"{amount} {label}"
        for name, label in labels.items()
        if isinstance(amount := scope.get("limits", name), str | int)
    ]
    return ", ".join(found) or _("None")


GPUS = DeviceFields()
