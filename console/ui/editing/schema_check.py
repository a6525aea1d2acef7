"""Check manifests against OpenAPI schemas, before the cluster can check them.

Covers what kube-apiserver's strict decoding and structural validation report most often: unknown
fields, types, required fields, enums and limits. The cluster still decides.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from console.ui.editing.yaml_text import Steps

#: Nesting depth at which the check stops. Some schemas contain themselves.
_MAX_DEPTH = 100
_INT_OR_STRING = "x-kubernetes-int-or-string"
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


@dataclass(frozen=True, slots=True)
class KindSchema:
    """Schema of a kind, and the schemas that it refers to by name. All of it is foreign input."""

    root: Mapping[str, Any]
    components: Mapping[str, Any]

    def problems(self, value: Any) -> Iterator[tuple[Steps, str]]:
        """Yield path and description of each problem. `metadata` is checked by the cluster."""
        inside = {name: one for name, one in value.items() if name not in _OF_EVERY_OBJECT}
        return self._inside(inside, self.root, (), known=_OF_EVERY_OBJECT)

    def resolved(self, schema: Any) -> dict[str, Any]:
        """Return the schema with its references and `allOf` merged."""
        found: dict[str, Any] = {}
        ahead = [schema]
        for _try in range(_MAX_DEPTH):
            if not ahead:
                break
            one = ahead.pop()
            if not isinstance(one, dict):
                continue
            found = {**one, **found}
            name = str(one.get("$ref", "")).rpartition("/")[2]
            ahead += [self.components.get(name), *_list(one.get("allOf"))]
        return found

    def _inside(
        self, value: Any, schema: Any, steps: Steps, *, known: frozenset[str] = frozenset()
    ) -> Iterator[tuple[Steps, str]]:
        found = self.resolved(schema)
        if value is None or len(steps) > _MAX_DEPTH:
            return
        text = _type_problem(value, found) or _value_problem(value, found)
        if text:
            yield steps, text
        elif isinstance(value, dict):
            yield from self._fields(value, found, steps, known)
        elif isinstance(value, list):
            for at, item in enumerate(value):
                yield from self._inside(item, found.get("items"), (*steps, at))

    def _fields(
        self, value: dict[str, Any], schema: dict[str, Any], steps: Steps, known: frozenset[str]
    ) -> Iterator[tuple[Steps, str]]:
        fields, others = schema.get("properties"), schema.get("additionalProperties")
        fields = fields if isinstance(fields, dict) else {}
        closed = bool(fields) and not others and not _is_open(schema)
        for name in _list(schema.get("required")):
            if isinstance(name, str) and name not in value and name not in known:
                yield steps, _("%(field)s is missing.") % {"field": name}
        for name, item in value.items():
            if name in fields or isinstance(others, dict):
                yield from self._inside(item, fields.get(name, others), (*steps, name))
            elif closed:
                yield (*steps, name), _("unknown field")


#: Fields that every object has. The console has checked their types.
_OF_EVERY_OBJECT = frozenset({"apiVersion", "kind", "metadata"})


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_open(schema: dict[str, Any]) -> bool:
    names = ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource")
    return any(schema.get(name) is True for name in names)


def _type_problem(value: Any, schema: dict[str, Any]) -> str:
    wanted = schema.get("type")
    mixed = schema.get(_INT_OR_STRING) is True or schema.get("format") == "int-or-string"
    if (
        mixed
        or not isinstance(wanted, str)
        or wanted not in _TYPES
        or (wanted == "string" and "format" in schema)
    ):
        # Kubernetes writes quantities and times in several JSON types.
        return ""
    if isinstance(value, _TYPES[wanted]) and isinstance(value, bool) is (wanted == "boolean"):
        return ""
    got = next((name for name, types in _TYPES.items() if type(value) in types), "null")
    return _("expected %(wanted)s, got %(got)s") % {"wanted": wanted, "got": got}


def _value_problem(value: Any, schema: dict[str, Any]) -> str:
    options = _list(schema.get("enum"))
    if options and isinstance(value, str) and value not in options:
        return _("must be one of: %(values)s") % {"values": ", ".join(map(str, options))}
    if isinstance(value, int | float) and not isinstance(value, bool):
        least, most = schema.get("minimum"), schema.get("maximum")
        if isinstance(least, int | float) and value < least:
            return _("must be at least %(limit)s") % {"limit": least}
        if isinstance(most, int | float) and value > most:
            return _("must be at most %(limit)s") % {"limit": most}
    size = len(value) if isinstance(value, str | list) else None
    suffix = "Length" if isinstance(value, str) else "Items"
    least, most = schema.get(f"min{suffix}"), schema.get(f"max{suffix}")
    if size is not None and isinstance(least, int) and size < least:
        return _("must have a length of at least %(limit)s") % {"limit": least}
    if size is not None and isinstance(most, int) and size > most:
        return _("must have a length of at most %(limit)s") % {"limit": most}
    return ""
