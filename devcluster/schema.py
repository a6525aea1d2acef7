"""Structural schemas of custom resources: pruning, defaulting and validation.

Rules:
https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/.
`x-kubernetes-validations` (CEL) and `format` are not evaluated.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jsonschema import Draft4Validator
from jsonschema.exceptions import ValidationError

from devcluster.errors import Cause, invalid_value, required, unsupported
from devcluster.objects import Obj, clone, encode

Schema = Mapping[str, Any]

_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING = "x-kubernetes-int-or-string"
_EMBEDDED = "x-kubernetes-embedded-resource"
_TYPE_META = ("apiVersion", "kind", "metadata")
# Keywords whose values are schemas.
_NESTED = ("properties", "patternProperties", "definitions")
_LISTED = ("allOf", "anyOf", "oneOf")


def prune(value: Any, schema: Schema, *, top: bool = True, path: str = "") -> list[str]:
    """Remove fields that are not in the schema. Return the paths of the removed fields."""
    removed: list[str] = []
    if isinstance(value, list):
        items = schema.get("items")
        for index, item in enumerate(value):
            if isinstance(items, Mapping):
                removed += prune(item, items, top=False, path=f"{path}[{index}]")
        return removed
    if not isinstance(value, dict):
        return removed
    kept = _TYPE_META if top or schema.get(_EMBEDDED) else ()
    for name in list(value):
        here = f"{path}.{name}" if path else name
        child = _child(schema, name)
        if isinstance(child, Mapping) and not (top and name == "metadata"):
            removed += prune(value[name], child, top=False, path=here)
        elif child is None and name not in kept and not schema.get(_PRESERVE):
            del value[name]
            removed.append(here)
    return removed


def _child(schema: Schema, name: str) -> Schema | bool | None:
    """Return the schema of a field, True if any value is allowed, or None for an unknown field."""
    found = (schema.get("properties") or {}).get(name)
    if isinstance(found, Mapping):
        return found
    additional = schema.get("additionalProperties")
    if isinstance(additional, Mapping):
        return additional
    return True if additional is True else None


def set_defaults(value: Any, schema: Schema) -> None:
    """Set the default values of missing fields. A null in a field that is not nullable counts as
    missing.
    """
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for item in value:
            set_defaults(item, schema["items"])
    if not isinstance(value, dict):
        return
    for name, child in (schema.get("properties") or {}).items():
        empty = name in value and value[name] is None and not child.get("nullable")
        if "default" in child and (name not in value or empty):
            value[name] = clone({"value": child["default"]})["value"]
        if name in value:
            set_defaults(value[name], child)
    additional = schema.get("additionalProperties")
    if isinstance(additional, Mapping):
        for name in value:
            set_defaults(value[name], additional)


def validator(schema: Schema) -> Draft4Validator:
    """Return a validator for objects of the schema. Metadata is validated elsewhere."""
    plain = _plain(schema)
    plain.get("properties", {}).pop("metadata", None)
    return Draft4Validator(plain)


def _plain(schema: Schema) -> dict[str, Any]:
    """Convert the structural schema to JSON Schema draft 4."""
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _NESTED:
            found[key] = {name: _plain(child) for name, child in value.items()}
        elif key in _LISTED:
            found[key] = [_plain(child) for child in value]
        elif key in ("not", "items", "additionalProperties") and isinstance(value, Mapping):
            found[key] = _plain(value)
        elif not key.startswith("x-") and key not in ("default", "format", "description"):
            found[key] = value
    nullable = found.pop("nullable", False)
    if schema.get(_INT_OR_STRING):
        found["type"] = ["integer", "string"]
    if nullable and "type" in found:
        kinds = found["type"]
        found["type"] = [*(kinds if isinstance(kinds, list) else [kinds]), "null"]
        if "enum" in found:
            found["enum"] = [*found["enum"], None]
    return found


def validate(obj: Obj, checker: Draft4Validator, schema: Schema) -> list[Cause]:
    """Return the validation errors of the object in Kubernetes' wording, sorted by field."""
    errors: Iterable[ValidationError] = checker.iter_errors(obj)
    causes = {cause for error in errors for cause in _causes(error)}
    causes.update(_duplicates(obj, schema, ""))
    return sorted(causes, key=lambda cause: (cause.field, cause.message))


def _duplicates(value: Any, schema: Schema, path: str) -> Iterator[Cause]:
    """Yield an error for each duplicate in sets and in lists with map keys."""
    if isinstance(value, dict):
        for name, item in value.items():
            child = _child(schema, name)
            if isinstance(child, Mapping):
                yield from _duplicates(item, child, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        kind, items = schema.get("x-kubernetes-list-type"), schema.get("items") or {}
        keys: list[str] = schema.get("x-kubernetes-list-map-keys") or []
        seen: list[Any] = []
        for index, item in enumerate(value):
            name = {key: item.get(key) for key in keys} if isinstance(item, dict) and keys else item
            if kind in ("set", "map") and name in seen:
                text = f"Duplicate value: {encode(name).decode()}"
                yield Cause(f"{path}[{index}]", "FieldValueDuplicate", text)
            seen.append(name)
            yield from _duplicates(item, items, f"{path}[{index}]")


def _causes(error: ValidationError) -> Iterator[Cause]:
    path = _path(error.absolute_path)
    value: Any = error.instance
    bound: Any = error.validator_value
    match error.validator:
        case "required":
            for name in bound:
                if isinstance(value, dict) and name not in value:
                    yield required(f"{path}.{name}" if path else name)
        case "enum":
            yield unsupported(path, value, [str(one) for one in bound if one is not None])
        case "type":
            kind = bound[0] if isinstance(bound, list) else bound
            shown = _kind(value)
            why = f'Invalid value: "{shown}": {path} in body must be of type {kind}: "{shown}"'
            yield Cause(path, "FieldValueTypeInvalid", why)
        case "maxLength":
            yield Cause(path, "FieldValueTooLong", f"Too long: may not be more than {bound} bytes")
        case _:
            yield invalid_value(path, _shown(value), f"{path} in body {_rule(error)}")


def _rule(error: ValidationError) -> str:
    bound = error.validator_value
    texts = {
        "pattern": f"should match '{bound}'",
        "minimum": f"should be greater than or equal to {bound}",
        "maximum": f"should be less than or equal to {bound}",
        "minLength": f"should be at least {bound} chars long",
        "minItems": f"should have at least {bound} items",
        "maxItems": f"should have at most {bound} items",
        "uniqueItems": "shouldn't contain duplicates",
        "multipleOf": f"should be a multiple of {bound}",
        "minProperties": f"should have at least {bound} properties",
        "maxProperties": f"should have at most {bound} properties",
        "anyOf": "must validate at least one schema (anyOf)",
        "oneOf": "must validate one and only one schema (oneOf)",
        "not": "must not validate the schema (not)",
    }
    return texts.get(str(error.validator), error.message)


def _path(parts: Iterable[str | int]) -> str:
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def _shown(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else _kind(value)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")
