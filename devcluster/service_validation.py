"""Validation of services and ingresses.

https://kubernetes.io/docs/reference/kubernetes-api/service-resources/
"""

import json
import re
from collections.abc import Iterator

from devcluster.errors import Cause, duplicate, invalid_value, required, unsupported
from devcluster.metadata_validation import LABEL, LABEL_RULE, SUBDOMAIN, SUBDOMAIN_RULE
from devcluster.objects import Obj, dicts, dig

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_HIGHEST = 65535
_RANGE = "must be between 1 and 65535, inclusive"
_NEVER = ("//", "/./", "/../", "%2f", "%2F")
_SERVICE = re.compile(r"(?=.{1,63}\Z)[a-z]([-a-z0-9]*[a-z0-9])?")
_SERVICE_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)


def validate_service(new: Obj, old: Obj | None) -> Iterator[Cause]:
    spec = new.get("spec") or {}
    headless = spec.get("clusterIP") == "None"
    ports = list(dicts(spec.get("ports")))
    if not ports and not headless and spec.get("type") != "ExternalName":
        yield required("spec.ports")
    names: set[object] = set()
    numbers: set[tuple[object, object]] = set()
    for index, port in enumerate(ports):
        path = f"spec.ports[{index}]"
        yield from _port(port, path, named=len(ports) > 1)
        name = port.get("name")
        if name and name in names:
            yield duplicate(f"{path}.name", name)
        names.add(name)
        number = (port.get("protocol"), port.get("port"))
        if number in numbers:
            shown = json.dumps({"port": number[1], "protocol": number[0], "targetPort": 0})
            yield Cause(path, "FieldValueDuplicate", f"Duplicate value: {shown}")
        numbers.add(number)
    before = dig(old, "spec.clusterIP") if old else None
    if before and spec.get("clusterIP") not in (None, "", before):
        yield invalid_value("spec.clusterIP", "", "field is immutable")


def _port(port: Obj, path: str, *, named: bool) -> Iterator[Cause]:
    name, number, target = port.get("name"), port.get("port"), port.get("targetPort")
    if not name and named:
        yield required(f"{path}.name")
    elif name and not LABEL.fullmatch(str(name)):
        yield invalid_value(f"{path}.name", name, LABEL_RULE)
    if not _in_range(number):
        yield invalid_value(f"{path}.port", number, _RANGE)
    if port.get("protocol") not in _PROTOCOLS:
        yield unsupported(f"{path}.protocol", port.get("protocol"), _PROTOCOLS)
    if isinstance(target, int) and not _in_range(target):
        yield invalid_value(f"{path}.targetPort", target, _RANGE)


def _in_range(number: object) -> bool:
    return isinstance(number, int) and 0 < number <= _HIGHEST


def validate_ingress(new: Obj, _: Obj | None) -> Iterator[Cause]:
    spec = new.get("spec") or {}
    rules = list(dicts(spec.get("rules")))
    if not rules and not spec.get("defaultBackend"):
        yield invalid_value("spec", "null", "either `defaultBackend` or `rules` must be specified")
    for n, rule in enumerate(rules):
        host = str(rule.get("host", ""))
        if host and not SUBDOMAIN.fullmatch(host.removeprefix("*.")):
            yield invalid_value(f"spec.rules[{n}].host", host, SUBDOMAIN_RULE)
        for m, path in enumerate(dicts(dig(rule, "http.paths"))):
            yield from _path(path, f"spec.rules[{n}].http.paths[{m}]")


def _path(path: Obj, at: str) -> Iterator[Cause]:
    kind = path.get("pathType")
    if not kind:
        yield required(f"{at}.pathType", "Required value: pathType must be specified")
    elif kind != "ImplementationSpecific":
        yield from _absolute(str(path.get("path", "")), f"{at}.path")
    service = dig(path, "backend.service") or {}
    if dig(path, "backend.resource"):
        return
    name = service.get("name")
    if not name:
        yield required(f"{at}.backend.service.name")
    elif not _SERVICE.fullmatch(str(name)):
        yield invalid_value(f"{at}.backend.service.name", name, _SERVICE_RULE)
    if not service.get("port"):
        yield required(
            f"{at}.backend.service.port", "Required value: port name or number is required"
        )


def _absolute(path: str, at: str) -> Iterator[Cause]:
    if not path.startswith("/"):
        yield invalid_value(at, path, "must be an absolute path")
    elif found := next((part for part in _NEVER if part in path), ""):
        yield invalid_value(at, path, f"must not contain '{found}'")
    elif found := next((part for part in ("/..", "/.") if path.endswith(part)), ""):
        yield invalid_value(at, path, f"cannot end with '{found}'")
