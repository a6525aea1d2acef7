"""Edit the ports, selector and session affinity of a service.
https://kubernetes.io/docs/concepts/services-networking/service/
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.names import is_dns_label
from console.kube.store import Entry
from console.ui.core.labels import label_problem
from console.ui.core.manifests import mapping, mappings_at
from console.ui.forms.fields import HIGHEST, KeyValueField, PortField, format_pairs
from console.ui.forms.forms import ChoiceField, NumberField, TextField
from console.ui.forms.row_forms import MOST, FormRows, SubmittedRow
from console.ui.forms.spec_forms import EditSpec, SpecForm

PROTOCOLS = ("TCP", "UDP", "SCTP")
#: Maximum and default session affinity timeout of kube-apiserver, in seconds.
LONGEST_AFFINITY, AFFINITY = 86400, 10800
AFFINITIES: Mapping[str, str | Promise] = {
    "None": gettext_lazy("None: any pod"),
    "ClientIP": gettext_lazy("Same pod for each client IP address (ClientIP)"),
}
#: The fields of a port that the form shows, with their types.
_SHOWN: Mapping[str, type | tuple[type, ...]] = {
    "name": str,
    "protocol": str,
    "port": int,
    "targetPort": (int, str),
}


class PortNameField(TextField):
    def clean(self, value: Any) -> str:
        found = str(super().clean(value))
        if found and not is_dns_label(found):
            raise ValidationError(_("Use up to 63 lowercase letters, digits, and “-”."))
        return found


class ServiceForm(SpecForm):
    edited_fields: ClassVar[Sequence[str]] = (
        "ports",
        "selector",
        "sessionAffinity",
        "sessionAffinityConfig",
    )
    selector = KeyValueField(
        label=gettext_lazy("Selector"),
        help_text=gettext_lazy(
            "One label per line: key=value. Traffic goes to the pods that have all of these "
            "labels. If you leave this field empty, endpoints must be managed manually."
        ),
        check=label_problem,
    )
    timeout = NumberField(
        label=gettext_lazy("Session timeout, in seconds"),
        help_text=gettext_lazy("Defaults to 3 hours. Applies only to ClientIP session affinity."),
        least=1,
        most=LONGEST_AFFINITY,
        required=False,
    )

    def __init__(
        self, data: QueryDict | None, spec: Mapping[str, Any], names: Collection[str] = ()
    ) -> None:
        super().__init__(data, spec, names)
        self.fields["affinity"] = ChoiceField(
            label=_("Session affinity"), choices=list(AFFINITIES.items())
        )
        self.order_fields(["was", "selector", "affinity", "timeout"])
        self.initial = {
            **self.initial,
            "selector": format_pairs(mapping(self.found, "selector")),
            "affinity": self.found.get("sessionAffinity") or "None",
            "timeout": self._config.get("timeoutSeconds"),
        }
        ports = mappings_at(self.found, "ports")
        self._ports = FormRows(
            self,
            "ports",
            _port_fields,
            found=[{part: port.get(path, "") for part, path in _PATHS.items()} for port in ports],
            titles=[_title(port) for port in ports],
            heading=_("Ports"),
            add=_("Add a port"),
            hint=_("If the target port is empty, the service port is used."),
        )
        self.groups = (self._ports,)

    def can_represent(self, found: Mapping[str, Any]) -> bool:
        ports, selector = found.get("ports", []), found.get("selector", {})
        config = found.get("sessionAffinityConfig", {})
        return (
            isinstance(ports, list)
            and len(ports) <= MOST
            and all(isinstance(port, dict) and _is_port(port) for port in ports)
            and isinstance(selector, dict)
            and all(isinstance(value, str) for value in selector.values())
            and found.get("sessionAffinity", "None") in (*AFFINITIES,)
            and isinstance(config, dict)
        )

    @property
    def _config(self) -> Mapping[str, Any]:
        return mapping(self.found, "sessionAffinityConfig", "clientIP")

    def new_values(self) -> Mapping[str, Any]:
        selector = self.cleaned_data.get("selector")
        return {"ports": [*self._wanted_ports()], "selector": selector, **self._wanted_affinity()}

    def _wanted_affinity(self) -> Mapping[str, Any]:
        affinity, timeout = (self.cleaned_data.get(name) for name in ("affinity", "timeout"))
        names = ("sessionAffinity", "sessionAffinityConfig")
        if (affinity, timeout) == (self.initial["affinity"], self.initial["timeout"]):
            return {name: self.found.get(name) for name in names}
        if affinity == "None" and timeout not in (None, self.initial["timeout"]):
            self.add_error("timeout", _("A session timeout requires session affinity."))
        has_timeout = affinity == "ClientIP" and timeout is not None
        config = {"clientIP": {**self._config, "timeoutSeconds": timeout}} if has_timeout else None
        return dict(zip(names, (affinity, config), strict=True))

    def _wanted_ports(self) -> Iterator[Mapping[str, Any]]:
        rows = [*self._ports.rows_to_keep()]
        names: set[str] = set()
        for n, row in enumerate(rows):
            name = row.values["name"]
            if not row.values["port"]:
                self.add_row_error(row, "port", _("Enter a port."))
            if not name and len(rows) > 1:
                self.add_row_error(
                    row, "name", _("If a service has several ports, each port needs a name.")
                )
            elif name in names:
                self.add_row_error(row, "name", _("A port with this name already exists."))
            names.add(name)
            self.map_causes(f"spec.ports[{n}]", row, _CAUSES)
            yield _port(row, mappings_at(self.found, "ports"))


#: Maps form fields of a row to API fields of a port.
_PATHS = {"name": "name", "protocol": "protocol", "port": "port", "target": "targetPort"}
_CAUSES = {"": "port", **{path: part for part, path in _PATHS.items()}}


def _port_fields(begins: Mapping[str, Any]) -> Mapping[str, forms.Field]:
    protocols = [(name, name) for name in PROTOCOLS]
    return {
        "name": PortNameField(label=_("Name"), required=False),
        "protocol": ChoiceField(label=_("Protocol"), choices=protocols, initial=PROTOCOLS[0]),
        "port": NumberField(label=_("Port"), least=1, most=HIGHEST, required=False),
        "target": PortField(label=_("Target port"), required=False),
    }


def _is_port(port: Mapping[str, Any]) -> bool:
    return port.get("protocol", "TCP") in PROTOCOLS and all(
        isinstance(port[name], types) for name, types in _SHOWN.items() if name in port
    )


def _title(port: Mapping[str, Any]) -> str:
    title = f"{port.get('port', '')}/{port.get('protocol', PROTOCOLS[0])}"
    outside = port.get("nodePort")
    return (
        _("%(port)s, node port %(outside)s") % {"port": title, "outside": outside}
        if outside
        else title
    )


def _port(row: SubmittedRow, ports: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the port, including fields that the form does not show."""
    port = {**ports[row.index]} if row.index is not None else {}
    for part, path in _PATHS.items():
        if row.changed(part) or row.index is None:
            port[path] = row.values[part]
            if not port[path]:
                # Kubernetes defaults `targetPort` to `port`.
                del port[path]
    return port


class EditService(EditSpec):
    name = "service"
    label = gettext_lazy("Edit service")
    title_text = gettext_lazy("Edit %(kind)s %(name)s")
    effect_text = gettext_lazy(
        "New connections use the changes within moments. Addresses, node ports, and all "
        "other fields are not changed."
    )
    weight = 2
    form = ServiceForm

    def applicable(self, entry: Entry[Any]) -> bool:
        """Return False for ExternalName services, which have no ports or pods to edit."""
        return bool(entry.projection.type != "ExternalName")
