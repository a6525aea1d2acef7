"""Validation of pod specs and update strategies.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
"""

import re
from collections.abc import Collection, Iterator

from devcluster.errors import (
    Cause,
    duplicate,
    forbidden_value,
    invalid_value,
    required,
    unsupported,
)
from devcluster.metadata_validation import CONFIG_KEY, CONFIG_KEY_RULE, LABEL, LABEL_RULE
from devcluster.objects import Obj, dicts, dig
from devcluster.quantities import parse_quantity

_POLICIES = ("Always", "OnFailure", "Never")
_VARIABLE = re.compile(r"[ -<>-~]+")
_VARIABLE_RULE = (
    "a valid environment variable name must consist only of printable ASCII characters other "
    "than '='"
)
_PORT_NAME = re.compile(r"(?=.{1,15}\Z)(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")
_TIMES = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)
#: Volume types that reference an object, and the field that contains its name.
_NAMED = {"configMap": "name", "secret": "secretName", "persistentVolumeClaim": "claimName"}
_SHARE = re.compile(r"[0-9]+%")


def validate_pods(spec: object, path: str, claims: Collection[object] = ()) -> Iterator[Cause]:
    """Yield the errors of a pod spec. `claims` are the names of additional volumes from claim
    templates.
    """
    found: Obj = spec if isinstance(spec, dict) else {}
    volumes: set[object] = {*claims}
    for index, volume in enumerate(dicts(found.get("volumes"))):
        yield from _volume(volume, f"{path}.volumes[{index}]", volumes)
        volumes.add(volume.get("name"))
    containers = list(dicts(found.get("containers")))
    if not containers:
        yield required(f"{path}.containers")
    seen: set[object] = set()
    for group in ("containers", "initContainers"):
        for index, container in enumerate(dicts(found.get(group))):
            place = f"{path}.{group}[{index}]"
            yield from _container(container, place, seen)
            yield from _mounts(container, f"{place}.volumeMounts", volumes)
            seen.add(container.get("name"))
    policy = found.get("restartPolicy")
    if policy not in _POLICIES:
        yield unsupported(f"{path}.restartPolicy", policy, _POLICIES)


def _container(container: Obj, path: str, seen: Collection[object]) -> Iterator[Cause]:
    name = container.get("name", "")
    if not name:
        yield required(f"{path}.name")
    elif not LABEL.fullmatch(name):
        yield invalid_value(f"{path}.name", name, LABEL_RULE)
    elif name in seen:
        yield duplicate(f"{path}.name", name)
    if not container.get("image"):
        yield required(f"{path}.image")
    yield from _requests(container, f"{path}.resources.requests")
    for index, variable in enumerate(dicts(container.get("env"))):
        yield from _variable(variable, f"{path}.env[{index}]")
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if isinstance(found := container.get(probe), dict):
            yield from _probe(found, f"{path}.{probe}")
            if probe != "readinessProbe" and found.get("successThreshold", 1) != 1:
                yield invalid_value(
                    f"{path}.{probe}.successThreshold", found["successThreshold"], "must be 1"
                )


def _requests(container: Obj, path: str) -> Iterator[Cause]:
    limits = dig(container, "resources.limits") or {}
    for name, amount in (dig(container, "resources.requests") or {}).items():
        if name in limits and parse_quantity(amount) > parse_quantity(limits[name]):
            why = f"must be less than or equal to {name} limit of {limits[name]}"
            yield invalid_value(path, amount, why)


def _variable(variable: Obj, path: str) -> Iterator[Cause]:
    name, source = variable.get("name", ""), variable.get("valueFrom")
    if not name:
        yield required(f"{path}.name")
    elif not _VARIABLE.fullmatch(name):
        yield invalid_value(f"{path}.name", name, _VARIABLE_RULE)
    if not isinstance(source, dict):
        return
    if variable.get("value"):
        yield invalid_value(
            f"{path}.valueFrom", "", "may not be specified when `value` is not empty"
        )
    for kind in ("configMapKeyRef", "secretKeyRef"):
        if isinstance(ref := source.get(kind), dict):
            for field in ("name", "key"):
                if not ref.get(field):
                    yield required(f"{path}.valueFrom.{kind}.{field}")
            if (key := ref.get("key")) and not CONFIG_KEY.fullmatch(key):
                yield invalid_value(f"{path}.valueFrom.{kind}.key", key, CONFIG_KEY_RULE)


def _probe(probe: Obj, path: str) -> Iterator[Cause]:
    handlers = [name for name in _HANDLERS if isinstance(probe.get(name), dict)]
    if not handlers:
        yield required(path, "Required value: must specify a handler type")
    for name in handlers[1:]:
        yield forbidden_value(f"{path}.{name}", "may not specify more than 1 handler type")
    for name in handlers[:1]:
        handler = probe[name]
        if name == "exec" and not handler.get("command"):
            yield required(f"{path}.exec.command")
        elif name != "exec":
            yield from _port(handler.get("port"), f"{path}.{name}.port")
    for name in _TIMES:
        if isinstance(time := probe.get(name), int) and time < 0:
            yield invalid_value(f"{path}.{name}", time, "must be greater than or equal to 0")


def _port(port: object, path: str) -> Iterator[Cause]:
    if isinstance(port, str) and not _PORT_NAME.fullmatch(port):
        yield invalid_value(path, port, "must be a valid port name")
    elif not isinstance(port, str) and not (isinstance(port, int) and 0 < port < 65536):
        yield invalid_value(path, port or 0, "must be between 1 and 65535, inclusive")


def _volume(volume: Obj, path: str, seen: Collection[object]) -> Iterator[Cause]:
    name = volume.get("name", "")
    if not name:
        yield required(f"{path}.name")
    elif not LABEL.fullmatch(name):
        yield invalid_value(f"{path}.name", name, LABEL_RULE)
    elif name in seen:
        yield duplicate(f"{path}.name", name)
    kinds = [kind for kind in volume if kind != "name"]
    if not kinds:
        yield required(path, "Required value: must specify a volume type")
    for kind in kinds[1:]:
        yield forbidden_value(f"{path}.{kind}", "may not specify more than 1 volume type")
    for kind, field in _NAMED.items():
        if isinstance(source := volume.get(kind), dict) and not source.get(field):
            yield required(f"{path}.{kind}.{field}")


def _mounts(container: Obj, path: str, volumes: Collection[object]) -> Iterator[Cause]:
    paths: set[object] = set()
    for index, mount in enumerate(dicts(container.get("volumeMounts"))):
        place = f"{path}[{index}]"
        name, where, below = (mount.get(one, "") for one in ("name", "mountPath", "subPath"))
        if not name:
            yield required(f"{place}.name")
        elif name not in volumes:
            yield Cause(f"{place}.name", "FieldValueNotFound", f'Not found: "{name}"')
        if not where:
            yield required(f"{place}.mountPath")
        elif where in paths:
            yield invalid_value(f"{place}.mountPath", where, "must be unique")
        paths.add(where)
        if str(below).startswith("/"):
            yield invalid_value(f"{place}.subPath", below, "must be a relative path")
        elif ".." in str(below).split("/"):
            yield invalid_value(f"{place}.subPath", below, "must not contain '..'")


def validate_strategy(spec: Obj, field: str, others: Collection[str]) -> Iterator[Cause]:
    """Yield the errors of an update strategy. `others` are the allowed types besides RollingUpdate."""
    strategy, path = spec.get(field), f"spec.{field}"
    if not isinstance(strategy, dict):
        return
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind not in (*others, "RollingUpdate"):
        yield unsupported(f"{path}.type", kind, sorted((*others, "RollingUpdate")))
    if not isinstance(rolling, dict):
        return
    if kind == "Recreate":
        why = "may not be specified when strategy `type` is 'Recreate'"
        yield forbidden_value(f"{path}.rollingUpdate", why)
        return
    for name in ("maxSurge", "maxUnavailable"):
        share = rolling.get(name)
        if isinstance(share, str) and not _SHARE.fullmatch(share):
            why = "a valid percent string must be a numeric string followed by an ending '%'"
            yield invalid_value(f"{path}.rollingUpdate.{name}", share, why)
    surge, fewer = (rolling.get(name, 0) in (0, "0%") for name in ("maxSurge", "maxUnavailable"))
    if surge and fewer and "partition" not in rolling:
        why = "may not be 0 when `maxSurge` is 0"
        yield invalid_value(f"{path}.rollingUpdate.maxUnavailable", 0, why)
