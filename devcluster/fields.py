"""The fields of built-in types: which exist, what type they have, and what an object loses.

The table `types.json` is made by `scripts/builtin_types.py`, which explains its notation. An object
that a client sends is brought into the shape in which Kubernetes keeps it: unknown fields go (and
are named), as do nulls and empty values that Kubernetes leaves out.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from devcluster.objects import Obj, parse_time
from devcluster.statuses import bad_request

_TABLE = Path(__file__).with_name("types.json")
_SCALARS: Mapping[str, tuple[type, ...]] = {
    "s": (str,),
    "y": (str,),
    "b": (bool,),
    "i": (int,),
    "f": (int, float),
    "Time": (str,),
    "MicroTime": (str,),
    "Duration": (str,),
    "IntOrString": (str, int),
    "Quantity": (str, int, float),
}
#: RFC 3339. https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#Time and #MicroTime
_MOMENT = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}%s(Z|[+-]\d{2}:\d{2})"
_MOMENTS = {
    "Time": re.compile(_MOMENT % r"(\.\d+)?", re.ASCII),
    "MicroTime": re.compile(_MOMENT % r"\.\d{6}", re.ASCII),
}
_LAYOUTS = {
    "Time": "2006-01-02T15:04:05Z07:00",
    "MicroTime": "2006-01-02T15:04:05.000000Z07:00",
}
_GO_TYPES = {"s": "string", "y": "[]uint8", "b": "bool", "i": "int32", "f": "float64"}


@dataclass(frozen=True, slots=True)
class Field:
    """`kind`: the notation of the table without its prefixes."""

    name: str
    number: int
    omits_empty: bool
    kind: str
    is_list: bool = False
    is_map: bool = False
    is_wrapped: bool = False


@dataclass(frozen=True, slots=True)
class Struct:
    """`inline`: structures whose fields belong to this one."""

    fields: Mapping[str, Field]
    by_number: Mapping[int, Field]
    inline: tuple[str, ...]

    def all_fields(self) -> Mapping[str, Field]:
        found = dict(self.fields)
        for name in self.inline:
            found |= (find_struct(name) or _EMPTY).all_fields()
        return found


_EMPTY = Struct({}, {}, ())


@lru_cache(maxsize=1)
def _table() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(_TABLE.read_text())
    return found


@cache
def find_struct(name: str) -> Struct | None:
    """`core.PodSpec`, `autoscaling/v2.MetricSpec`; None if the table does not have it."""
    entries = _table().get(name)
    if entries is None:
        return None
    fields = [_field(key, text) for key, text in entries.items()]
    return Struct(
        {f.name: f for f in fields if not f.name.startswith("+")},
        {f.number: f for f in fields},
        tuple(f.kind for f in fields if f.name.startswith("+")),
    )


@cache
def _fields(name: str) -> Mapping[str, Field] | None:
    struct = find_struct(name)
    return struct.all_fields() if struct else None


def _field(name: str, text: str) -> Field:
    number, _, kind = text.partition(" ")
    wrapped = "=" in kind
    plain = kind.replace("=", "")
    is_map = plain.startswith("{}")
    plain = plain.removeprefix("{}")
    is_list = plain.startswith("[]")
    return Field(
        name,
        int(number.rstrip("?")),
        number.endswith("?"),
        plain.removeprefix("[]"),
        is_list,
        is_map,
        wrapped,
    )


def struct_name(group: str, version: str, kind: str) -> str:
    """The name by which the table knows a kind."""
    if kind in ("DeleteOptions", "Status"):
        return f"meta.{kind}"
    short = (group or "core").partition(".")[0]
    return f"{short}.{kind}" if version == "v1" else f"{short}/{version}.{kind}"


def normalize(obj: Obj, struct: str) -> list[str]:
    """Brings the object into the kept shape; names the unknown fields, which are gone then.

    400 if a value is of the wrong type. Nothing happens for a structure that is not in the table.
    """
    unknown: list[str] = []
    fields = _fields(struct)
    if fields is not None:
        _normalize(obj, fields, "", unknown)
    return unknown


def _normalize(obj: Obj, fields: Mapping[str, Field], path: str, unknown: list[str]) -> None:
    for name in list(obj):
        here = f"{path}.{name}" if path else name
        field, value = fields.get(name), obj[name]
        if field is None:
            unknown.append(here)
            del obj[name]
        elif value is None:
            del obj[name]
        else:
            obj[name] = value = _value(value, field, here, unknown)
            if field.omits_empty and _is_zero(value, field):
                del obj[name]


def _is_zero(value: Any, field: Field) -> bool:
    if field.is_list or field.is_map:
        return not value
    return field.kind in ("s", "i", "b", "f", "y") and not value


def _value(value: Any, field: Field, path: str, unknown: list[str]) -> Any:
    if field.is_map:
        if not isinstance(value, dict):
            raise _mismatch(value, path, "map[string]string")
        return {
            key: _list_or_item(item, field, f"{path}.{key}", unknown) for key, item in value.items()
        }
    return _list_or_item(value, field, path, unknown)


def _list_or_item(value: Any, field: Field, path: str, unknown: list[str]) -> Any:
    if not field.is_list:
        return _item(value, field.kind, path, unknown)
    if not isinstance(value, list):
        raise _mismatch(value, path, f"[]{_go_type(field.kind)}")
    return [
        _item(item, field.kind, f"{path}[{index}]", unknown) for index, item in enumerate(value)
    ]


def _item(value: Any, kind: str, path: str, unknown: list[str]) -> Any:
    allowed = _SCALARS.get(kind)
    if allowed is not None:
        if not isinstance(value, allowed) or (isinstance(value, bool) and kind != "b"):
            raise _mismatch(value, path, _go_type(kind))
        if kind in _MOMENTS and value and not _is_moment(str(value), kind):
            raise bad_request(f'parsing time "{value}" as "{_LAYOUTS[kind]}": cannot parse')
        # A number is a fine quantity, but is kept as text.
        return f"{value}" if kind == "Quantity" else value
    fields = _fields(kind)
    if fields is not None:
        if not isinstance(value, dict):
            raise _mismatch(value, path, _go_type(kind))
        _normalize(value, fields, path, unknown)
    return value


def _is_moment(text: str, kind: str) -> bool:
    if not _MOMENTS[kind].fullmatch(text):
        return False
    try:
        parse_time(text)
    except ValueError:
        return False
    return True


def _go_type(kind: str) -> str:
    return _GO_TYPES.get(kind, kind)


def _mismatch(value: Any, path: str, wanted: str) -> Exception:
    names = {str: "string", bool: "bool", int: "number", float: "number", list: "array"}
    found = names.get(type(value), "object")
    return bad_request(
        f"json: cannot unmarshal {found} into Go struct field .{path} of type {wanted}"
    )
