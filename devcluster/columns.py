"""Columns of server-side tables and functions that compute their cells."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from console.kube.jsonpath import BadPath, parse
from devcluster.objects import Obj, condition_of, dig, holds, meta, parse_time
from devcluster.podstatus import pod_restarts

Getter = Callable[[Obj], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A table column. kubectl shows a column with a `priority` above 0 only with `-o wide`."""

    name: str
    get: Getter
    type: str = "string"
    priority: int = 0
    format: str = ""
    description: str = ""

    def definition(self) -> Obj:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description or self.name,
            "priority": self.priority,
        }


def age(text: str | None) -> str:
    """Format the time since `text` as kubectl does: `5s`, `3m12s`, `2h`, `4d3h`, `2y`."""
    if not text:
        return "<unknown>"
    return duration(int((datetime.now(UTC) - parse_time(text)).total_seconds()))


def duration(seconds: int) -> str:
    """Format a duration like `HumanDuration` of apimachinery: at most two units."""
    if seconds < 0:
        return "<invalid>" if seconds < -1 else "0s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    if days < 730:
        return f"{days}d"
    return f"{days // 365}y{days % 365}d" if days < 2920 else f"{days // 365}y"


def field_text(path: str, missing: Any = "") -> Getter:
    def get(obj: Obj) -> Any:
        value = dig(obj, path)
        return missing if value is None or value == "" else value

    return get


def object_age(obj: Obj) -> str:
    return age(meta(obj).get("creationTimestamp"))


def size_of(path: str) -> Getter:
    return lambda obj: len(dig(obj, path) or ())


def selector_text(path: str) -> Getter:
    def get(obj: Obj) -> str:
        labels: Mapping[str, str] = dig(obj, path) or {}
        return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or "<none>"

    return get


def container_texts(field: str) -> Getter:
    def get(obj: Obj) -> str:
        return ",".join(c.get(field, "") for c in dig(obj, "spec.template.spec.containers") or ())

    return get


def restarts_text(obj: Obj) -> str:
    count, last = pod_restarts(obj)
    return f"{count} ({age(last)} ago)" if count and last else str(count)


def node_roles(obj: Obj) -> str:
    prefix = "node-role.kubernetes.io/"
    labels = meta(obj).get("labels") or {}
    roles = sorted(key.removeprefix(prefix) for key in labels if key.startswith(prefix))
    return ",".join(roles) or "<none>"


def node_status(obj: Obj) -> str:
    word = "Ready" if holds(obj, "Ready") else "NotReady"
    word = word if condition_of(obj, "Ready") else "Unknown"
    return f"{word},SchedulingDisabled" if dig(obj, "spec.unschedulable") else word


def address_of(kind: str) -> Getter:
    def get(obj: Obj) -> str:
        found = (a["address"] for a in dig(obj, "status.addresses") or () if a.get("type") == kind)
        return next(found, "<none>")

    return get


def ratio(ready: str, wanted: str) -> Getter:
    return lambda obj: f"{dig(obj, ready) or 0}/{dig(obj, wanted) or 0}"


def ports_text(obj: Obj) -> str:
    def one(port: Obj) -> str:
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        return f"{port.get('port')}{node}/{port.get('protocol', 'TCP')}"

    return ",".join(one(port) for port in dig(obj, "spec.ports") or ()) or "<none>"


def external_address(obj: Obj) -> str:
    ingress = dig(obj, "status.loadBalancer.ingress") or ()
    found = ",".join(one.get("ip") or one.get("hostname", "") for one in ingress)
    pending = dig(obj, "spec.type") == "LoadBalancer"
    return found or ("<pending>" if pending else "<none>")


def event_object(obj: Obj) -> str:
    about = obj.get("involvedObject") or {}
    return f"{about.get('kind', '').lower()}/{about.get('name', '')}"


def last_seen(obj: Obj) -> str:
    return age(
        obj.get("lastTimestamp") or obj.get("eventTime") or meta(obj).get("creationTimestamp")
    )


def job_status(obj: Obj) -> str:
    for kind in ("Complete", "Failed"):
        if holds(obj, kind):
            return kind
    return "Suspended" if dig(obj, "spec.suspend") else "Running"


def job_duration(obj: Obj) -> str:
    start, end = dig(obj, "status.startTime"), dig(obj, "status.completionTime")
    if not start:
        return ""
    finish = parse_time(end) if end else datetime.now(UTC)
    return duration(int((finish - parse_time(start)).total_seconds()))


def role_text(obj: Obj) -> str:
    ref = obj.get("roleRef") or {}
    return f"{ref.get('kind', '')}/{ref.get('name', '')}"


def param_kind(obj: Obj) -> str:
    """Return the kind of a policy's parameters, like `policy.example.com/v1/ReplicaLimit`."""
    kind = dig(obj, "spec.paramKind")
    return f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else "<unset>"


NAME = Column("Name", field_text("metadata.name"), format="name")
AGE = Column("Age", object_age)
IMAGES = (
    Column("Containers", container_texts("name"), priority=1),
    Column("Images", container_texts("image"), priority=1),
    Column("Selector", selector_text("spec.selector.matchLabels"), priority=1),
)


def number(name: str, path: str) -> Column:
    return Column(name, field_text(path, 0), "integer")


def json_path_getter(path: str, kind: str) -> Getter:
    """Return a getter for a printer column. Its result is None if the value is missing or has
    another type.
    """
    try:
        found = parse(path)
    except BadPath:
        return lambda _obj: None
    return lambda obj: _cell(found.first(obj.get(found.head)), kind)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _cell(value: Any, kind: str) -> Any:
    """Convert a value like kube-apiserver's `cellForJSONValue`."""
    if kind == "string":
        return value if value is None or isinstance(value, str) else _compact(value)
    if kind == "date":
        return _age_cell(value) if isinstance(value, str) else None
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if kind == "integer" else value


def _age_cell(text: str) -> str:
    try:
        return age(text)
    except (TypeError, ValueError):
        return "<invalid>"
