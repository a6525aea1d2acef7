"""The action that edits the probes of a workload's containers.

https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/
"""

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.workloads.autoscaling import MOST
from console.actions.workloads.base import GROUPS
from console.actions.workloads.templates import EditTemplate, TemplateContainer, TemplateForm
from console.ui.core.manifests import mapping, number
from console.ui.core.text import has_no_invisible
from console.ui.forms.fields import PortField
from console.ui.forms.forms import ChoiceField, LinesField, NumberField, TextField, is_line
from console.ui.forms.row_forms import FormRows, SubmittedRow

#: Maximum containers on one page. Each has three probes with a dozen fields.
MOST_CONTAINERS = 25
LONGEST_PATH, LONGEST_COMMAND = 1024, 16 * 1024
PROBES: Mapping[str, str | Promise] = {
    "startupProbe": gettext_lazy("Startup"),
    "readinessProbe": gettext_lazy("Readiness"),
    "livenessProbe": gettext_lazy("Liveness"),
}
NONE = "none"
HANDLERS: Mapping[str, str | Promise] = {
    "httpGet": gettext_lazy("HTTP request"),
    "tcpSocket": gettext_lazy("TCP connection"),
    "exec": gettext_lazy("Command"),
    "grpc": gettext_lazy("gRPC health check"),
}
SCHEMES = ("HTTP", "HTTPS")
#: Label, minimum, and Kubernetes default of each setting.
TIMES: Mapping[str, tuple[str | Promise, int, int]] = {
    "initialDelaySeconds": (gettext_lazy("Initial delay, in seconds"), 0, 0),
    "periodSeconds": (gettext_lazy("Period, in seconds"), 1, 10),
    "timeoutSeconds": (gettext_lazy("Timeout, in seconds"), 1, 1),
    "successThreshold": (gettext_lazy("Success threshold"), 1, 1),
    "failureThreshold": (gettext_lazy("Failure threshold"), 1, 3),
}
#: Fields of each handler that are fields of a row.
_PARTS: Mapping[str, Sequence[str]] = {
    "httpGet": ("path", "port", "scheme"),
    "tcpSocket": ("port",),
    "exec": ("command",),
    "grpc": ("port", "service"),
}
#: Error messages for required fields.
_NEEDED: Mapping[str, str | Promise] = {
    "port": gettext_lazy("Enter a port."),
    "command": gettext_lazy("Enter a command."),
}


class CommandField(LinesField):
    """Field for a command line with shell quoting."""

    def clean(self, value: Any) -> str:
        found = str(super().clean(value))
        try:
            return found if shlex.split(found) else ""
        except ValueError as error:
            raise ValidationError(_("A quotation mark is missing.")) from error


class ProbesForm(TemplateForm):
    edited_container_fields = (*PROBES, "restartPolicy")

    def __init__(
        self,
        data: QueryDict | None,
        spec: Mapping[str, Any],
        place: Sequence[str],
        names: Collection[str] = (),
    ) -> None:
        super().__init__(data, spec, place, names)
        self._rows = {one.stem: self._rows_of(one) for one in self._probed}
        self.groups = tuple(self._rows.values())

    @property
    def _probed(self) -> list[TemplateContainer]:
        """Containers that can have probes: regular containers and sidecars, which are init
        containers that keep running.
        """
        return [
            one
            for one in self.containers
            if one.group == GROUPS[0] or one.manifest.get("restartPolicy") == "Always"
        ]

    def _rows_of(self, container: TemplateContainer) -> FormRows:
        return FormRows(
            self,
            container.stem,
            _fields,
            found=[_begins(mapping(container.manifest, name)) for name in PROBES],
            titles=[str(title) for title in PROBES.values()],
            heading=container.title,
            hint=_(
                "The other probes start after the startup probe succeeds. A pod that is not ready "
                "receives no traffic from services. A container is restarted when its liveness probe "
                "fails."
            ),
        )

    def can_represent(self, found: Mapping[str, Any]) -> bool:
        return super().can_represent(found) and sum(map(len, found.values())) <= MOST_CONTAINERS

    def can_represent_container(self, container: Mapping[str, Any]) -> bool:
        restarts = container.get("restartPolicy", "")
        probes = (container[name] for name in PROBES if name in container)
        return isinstance(restarts, str) and all(map(_is_probe, probes))

    def new_container_values(self, container: TemplateContainer) -> Mapping[str, Any]:
        if container.stem not in self._rows:
            return {}
        rows = zip(PROBES, self._rows[container.stem].rows_to_keep(), strict=True)
        return {name: self._probe(container, name, row) for name, row in rows}

    def _probe(
        self, container: TemplateContainer, name: str, row: SubmittedRow
    ) -> Mapping[str, Any]:
        """Return the new probe, including fields that the form does not show, or an empty mapping
        for no probe.
        """
        before, sort = mapping(container.manifest, name), row.values["sort"]
        own = _PARTS.get(sort, ())
        below = {f"{sort}.{part}": part for part in own}
        parts = {"": "sort", sort: own[0] if own else "sort", **below}
        self.map_causes(f"{container.path}.{name}", row, {**parts, **{one: one for one in TIMES}})
        self._check_others(row, sort, own)
        if sort == NONE:
            return {}
        found = {**before}
        for part in TIMES:
            if row.changed(part):
                found[part] = row.values[part]
        if row.changed("sort", *own):
            found = {one: value for one, value in found.items() if one not in HANDLERS}
            found[sort] = self._handler(row, own, mapping(before, sort))
        return {one: value for one, value in found.items() if value != ""}

    def _check_others(self, row: SubmittedRow, sort: str, own: Sequence[str]) -> None:
        parts = {part for parts in _PARTS.values() for part in parts} - {*own, "scheme"}
        for part in (*sorted(parts), *(TIMES if sort == NONE else ())):
            if row.values[part] != "" and row.changed(part):
                self.add_row_error(
                    row, part, _("The selected kind of probe does not use this field.")
                )

    def _handler(
        self, row: SubmittedRow, own: Sequence[str], before: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        found = {**before}
        for part in own:
            value = row.values[part]
            if value == "" and part in _NEEDED:
                self.add_row_error(row, part, str(_NEEDED[part]))
            if part == "port" and row.values["sort"] == "grpc" and isinstance(value, str) and value:
                self.add_row_error(row, part, _("A gRPC probe needs a port number."))
            if row.changed("sort", part):
                found[part] = shlex.split(value) if part == "command" else value
        return {part: value for part, value in found.items() if value != ""}


def _fields(_begins: Mapping[str, Any]) -> Mapping[str, forms.Field]:
    sorts = {NONE: _("No probe"), **HANDLERS}
    scheme = ChoiceField(label=_("Scheme"), choices=[(one, one) for one in SCHEMES])
    scheme.widget.attrs["data-only"] = "httpGet"
    path, service = (forms.TextInput({"data-only": one}) for one in ("httpGet", "grpc"))
    port = forms.TextInput({"data-only": "httpGet tcpSocket grpc"})
    command = forms.Textarea({"data-only": "exec"})
    return {
        "sort": ChoiceField(label=_("Kind of probe"), choices=[*sorts.items()], initial=NONE),
        "path": TextField(label=_("Path"), required=False, max_length=LONGEST_PATH, widget=path),
        "port": PortField(label=_("Port"), required=False, widget=port),
        "scheme": scheme,
        "service": TextField(label=_("Service"), required=False, widget=service),
        "command": CommandField(
            label=_("Command"), required=False, max_length=LONGEST_COMMAND, widget=command
        ),
        **{name: _time(*about) for name, about in TIMES.items()},
    }


def _time(label: str | Promise, least: int, usual: int) -> forms.Field:
    widget = forms.NumberInput({"data-only": " ".join(HANDLERS), "placeholder": usual})
    return NumberField(label=label, least=least, most=MOST, required=False, widget=widget)


def _begins(probe: Mapping[str, Any]) -> Mapping[str, Any]:
    sort = next((one for one in HANDLERS if one in probe), NONE)
    handler = mapping(probe, sort)
    return {
        "sort": sort,
        "path": handler.get("path", ""),
        "port": handler.get("port", ""),
        "scheme": handler.get("scheme", SCHEMES[0]),
        "service": handler.get("service", ""),
        "command": shlex.join(handler.get("command", ())),
        **{name: probe.get(name, "") for name in TIMES},
    }


def _is_probe(probe: object) -> bool:
    """Return True if the form can represent the probe, which must have exactly one handler."""
    if not isinstance(probe, dict) or len(probe.keys() & HANDLERS.keys()) != 1:
        return False
    handler = mapping(probe, *(probe.keys() & HANDLERS.keys()))
    command, port = handler.get("command", []), handler.get("port", 1)
    return (
        all(number(probe[name]) is not None for name in TIMES if name in probe)
        and is_line(handler.get("path", ""), LONGEST_PATH)
        and is_line(handler.get("service", ""))
        and handler.get("scheme", SCHEMES[0]) in SCHEMES
        and (number(port) is not None or is_line(port))
        and isinstance(command, list)
        and all(isinstance(word, str) and has_no_invisible(word) for word in command)
    )


class EditProbes(EditTemplate):
    name = "probes"
    label = gettext_lazy("Edit probes")
    title_text = gettext_lazy("Edit the probes of %(kind)s %(name)s")
    form = ProbesForm
