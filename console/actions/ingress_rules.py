"""Edit the rules and certificates of an ingress.
https://kubernetes.io/docs/concepts/services-networking/ingress/
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import LONGEST_NAME, SERVICES
from console.kube.names import is_dns_subdomain
from console.ui.core.manifests import mapping, mappings_at
from console.ui.forms.fields import PortField
from console.ui.forms.forms import ChoiceField, TextField
from console.ui.forms.row_forms import MOST, FormRows, SubmittedRow
from console.ui.forms.spec_forms import EditSpec, SpecForm

PATH_TYPES = ("Prefix", "Exact", "ImplementationSpecific")
_LONGEST_PATH = 1024
#: ID of the datalist with service names.
SERVICE_NAMES = "service-names"
#: Maps API fields of a path to form fields of its row.
_PATH_CAUSES = {
    "path": "path",
    "pathType": "type",
    "backend": "service",
    "backend.service.port": "port",
}


class HostField(TextField):
    def clean(self, value: Any) -> str:
        found = str(super().clean(value))
        if found:
            check_host(found)
        return found


class HostsField(TextField):
    """Host names, separated by spaces or commas. The cleaned value is a list."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=64 * 1024, **options)

    def prepare_value(self, value: Any) -> Any:
        return " ".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        found = str(super().clean(value)).replace(",", " ").split()
        for host in found:
            check_host(host)
        return found


def check_host(host: str) -> None:
    """Raise `ValidationError` if `host` is not a valid host name or wildcard."""
    if len(host) > LONGEST_NAME or not is_dns_subdomain(host.removeprefix("*.")):
        text = _(
            "“%(host)s” is not a valid host name. Use lowercase letters, digits, “-”, and “.”."
        )
        raise ValidationError(text % {"host": host})


@dataclass(frozen=True, slots=True)
class _Path:
    """A path of a rule, or a rule without paths. `rule` is the index of the rule."""

    rule: int
    host: str
    manifest: Mapping[str, Any]

    @property
    def initial(self) -> Mapping[str, Any]:
        backend = mapping(self.manifest, "backend", "service")
        port = mapping(backend, "port")
        return {
            "host": self.host,
            "path": self.manifest.get("path", ""),
            "type": self.manifest.get("pathType", PATH_TYPES[0]),
            "service": backend.get("name", ""),
            "port": port.get("number") or port.get("name", ""),
        }

    @property
    def title(self) -> str:
        resource = mapping(self.manifest, "backend", "resource")
        where = f"{self.host or '*'}{self.manifest.get('path', '')}"
        leads_to = f" → {resource.get('kind', '')}/{resource.get('name', '')}" if resource else ""
        return f"{where}{leads_to}"


def _paths_of(found: Mapping[str, Any]) -> Iterator[_Path]:
    for n, rule in enumerate(mappings_at(found, "rules")):
        for path in mappings_at(rule, "http", "paths") or [{}]:
            yield _Path(n, rule.get("host", ""), path)


class RulesForm(SpecForm):
    edited_fields: ClassVar[Sequence[str]] = ("rules", "tls")

    def __init__(
        self,
        data: QueryDict | None,
        spec: Mapping[str, Any],
        names: Collection[str] = (),
    ) -> None:
        super().__init__(data, spec, names)
        self.suggestions = {SERVICE_NAMES: names}
        self._known = [*_paths_of(self.found)]
        self._paths = FormRows(
            self,
            "paths",
            _path_fields,
            found=[path.initial for path in self._known],
            titles=[path.title for path in self._known],
            heading=_("Paths"),
            add=_("Add a path"),
            hint=_(
                "A path without a host applies to all hosts that no other rule names. A path of type "
                "Prefix also matches its subpaths."
            ),
        )
        tls = mappings_at(self.found, "tls")
        self._tls = FormRows(
            self,
            "tls",
            _tls_fields,
            found=[
                {"hosts": one.get("hosts") or [], "secret": one.get("secretName", "")}
                for one in tls
            ],
            titles=[
                one.get("secretName") or _("Default certificate of the controller") for one in tls
            ],
            heading=_("Certificates"),
            add=_("Add a certificate"),
            hint=_(
                "Separate hosts with spaces. The secret must contain the certificate and its private "
                "key."
            ),
        )
        self.groups = (self._paths, self._tls)

    def can_represent(self, found: Mapping[str, Any]) -> bool:
        rules, tls = found.get("rules", []), found.get("tls", [])
        return (
            isinstance(rules, list)
            and all(_is_rule(rule) for rule in rules)
            and len([*_paths_of(found)]) <= MOST
            and isinstance(tls, list)
            and len(tls) <= MOST
            and all(_is_tls(one) for one in tls)
        )

    def new_values(self) -> Mapping[str, Any]:
        return {"rules": self._rules(), "tls": [*self._certificates()]}

    def _rules(self) -> Sequence[Mapping[str, Any]]:
        """Return the rules. A path stays in its rule unless its host changes. Then it moves to the
        first rule of the new host.
        """
        built: list[dict[str, Any]] = []
        kept: dict[int, dict[str, Any]] = {}
        before = mappings_at(self.found, "rules")
        for row in self._paths.rows_to_keep():
            known = self._known[row.index] if row.index is not None else None
            host = row.values["host"]
            if known is not None and known.host == host:
                if known.rule not in kept:
                    kept[known.rule] = _without_paths(before[known.rule])
                    built.append(kept[known.rule])
                rule = kept[known.rule]
            else:
                rule = _of_host(built, host)
            at = f"spec.rules[{next(n for n, one in enumerate(built) if one is rule)}]"
            self.map_causes(at, row, {"host": "host"})
            if (
                known is not None
                and not known.manifest
                and not row.changed("path", "service", "port")
            ):
                continue
            http = rule.setdefault("http", {"paths": []})
            self.map_causes(f"{at}.http.paths[{len(http['paths'])}]", row, _PATH_CAUSES)
            http["paths"].append(self._path(row, known.manifest if known is not None else {}))
        return built

    def _path(self, row: SubmittedRow, before: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the path, including fields that the form does not show. An unchanged path is
        returned unchanged.
        """
        if row.index is not None and not row.changed("path", "type", "service", "port"):
            return before
        path, service, port = (row.values[part] for part in ("path", "service", "port"))
        if path and not path.startswith("/"):
            self.add_row_error(row, "path", _("A path must start with “/”."))
        elif not path and row.values["type"] != "ImplementationSpecific":
            self.add_row_error(row, "path", _("Enter a path. Use “/” to match all paths."))
        backend = mapping(before, "backend")
        if row.changed("service", "port") or "resource" not in backend:
            for part, text in (
                ("service", _("Enter a service.")),
                ("port", _("Enter a port.")),
            ):
                if not row.values[part]:
                    self.add_row_error(row, part, text)
        if row.changed("service", "port"):
            named = {"number" if isinstance(port, int) else "name": port}
            backend = {"service": {**mapping(backend, "service"), "name": service, "port": named}}
        found = {**before, "path": path, "pathType": row.values["type"], "backend": backend}
        return found if path else {name: value for name, value in found.items() if name != "path"}

    def _certificates(self) -> Iterator[Mapping[str, Any]]:
        before = mappings_at(self.found, "tls")
        for n, row in enumerate(self._tls.rows_to_keep()):
            self.map_causes(f"spec.tls[{n}]", row, {"": "hosts", "secretName": "secret"})
            entry = {**before[row.index]} if row.index is not None else {}
            for part, name in (("hosts", "hosts"), ("secret", "secretName")):
                if row.changed(part):
                    entry[name] = row.values[part]
            if entry:
                yield {name: value for name, value in entry.items() if value}


def _of_host(rules: list[dict[str, Any]], host: str) -> dict[str, Any]:
    """Return the first rule of the host, or append a new one."""
    for rule in rules:
        if rule.get("host", "") == host:
            return rule
    rules.append({"host": host} if host else {})
    return rules[-1]


def _without_paths(rule: Mapping[str, Any]) -> dict[str, Any]:
    http = {"http": {**mapping(rule, "http"), "paths": []}} if "http" in rule else {}
    return {**rule, **http}


def _path_fields(_begins: Mapping[str, Any]) -> Mapping[str, forms.Field]:
    names, types = forms.TextInput({"list": SERVICE_NAMES}), [(one, one) for one in PATH_TYPES]
    return {
        "host": HostField(label=_("Host"), required=False),
        "path": TextField(label=_("Path"), required=False, max_length=_LONGEST_PATH),
        "type": ChoiceField(label=_("Path type"), choices=types, initial=PATH_TYPES[0]),
        "service": TextField(label=_("Service"), required=False, widget=names),
        "port": PortField(label=_("Service port"), required=False),
    }


def _tls_fields(_begins: Mapping[str, Any]) -> Mapping[str, forms.Field]:
    return {
        "hosts": HostsField(label=_("Hosts"), required=False),
        "secret": TextField(label=_("Secret"), required=False),
    }


def _is_rule(rule: object) -> bool:
    if not isinstance(rule, dict) or not isinstance(rule.get("host", ""), str):
        return False
    if "http" not in rule:
        return True
    paths = mapping(rule, "http").get("paths")
    return isinstance(paths, list) and bool(paths) and all(_is_path(path) for path in paths)


def _is_path(path: object) -> bool:
    service, port = mapping(path, "backend", "service"), mapping(path, "backend", "service", "port")
    return (
        bool(mapping(path))
        and isinstance(mapping(path).get("path", ""), str)
        and mapping(path).get("pathType", PATH_TYPES[0]) in PATH_TYPES
        and isinstance(service.get("name", ""), str)
        and isinstance(port.get("number", 0), int)
        and isinstance(port.get("name", ""), str)
    )


def _is_tls(entry: object) -> bool:
    hosts = mapping(entry).get("hosts", [])
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("secretName", ""), str)
        and isinstance(hosts, list)
        and all(isinstance(host, str) for host in hosts)
    )


class EditRules(EditSpec):
    name = "rules"
    label = gettext_lazy("Edit rules")
    reads_also = (SERVICES,)
    title_text = gettext_lazy("Edit the rules of %(kind)s %(name)s")
    effect_text = gettext_lazy(
        "The ingress controller applies the new rules within moments. Annotations and all "
        "other fields are not changed."
    )
    weight = 2
    form = RulesForm
