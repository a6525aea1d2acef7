"""Wizards that are generated from the OpenAPI schema of a type, such as a custom resource.

All of a schema is foreign input. Required fields come first. What no field can represent is edited
as YAML within the form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.kube.gvr import GVR
from console.kube.merging import json_equal
from console.ui.core.text import escape_invisible, has_no_invisible
from console.ui.editing.schema_check import KindSchema
from console.ui.editing.yaml_text import plain_yaml, read_yaml
from console.ui.lists.columns import NO, YES
from console.ui.wizard import fields
from console.ui.wizard.fields import Choice, InvalidInput
from console.ui.wizard.parts import FormPart, Group, Rows
from console.ui.wizard.paths import ABSENT, Path
from console.ui.wizard.state import FieldScope
from console.ui.wizard.wizard import Slot, Step, Wizard, name_of
from console.wizards import metadata

#: Maximum nesting depth of fields, and number of fields. The rest is edited as YAML.
MAX_DEPTH, MAX_FIELDS = 5, 400
#: Maximum characters of a hint.
MAX_HINT = 160
#: Fields of every object that the wizard doesn't show, or shows in its first step.
_OF_EVERY_OBJECT = frozenset({"apiVersion", "kind", "metadata", "status"})
_LARGE = 2**53


@dataclass(frozen=True, kw_only=True)
class YesNo(fields.Select):
    """A boolean, or the default."""

    choices: Sequence[Choice] = (
        Choice("", gettext_lazy("Default")),
        Choice("true", YES),
        Choice("false", NO),
    )

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        return str(value).lower() if isinstance(value, bool) else None

    def parsed(self, text: str) -> Any:
        found = super().parsed(text)
        return found if found is ABSENT else found == "true"


@dataclass(frozen=True, kw_only=True)
class YamlInput(fields.TextArea):
    """Any value, as YAML."""

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        try:
            text = plain_yaml(value).removesuffix("...\n").removesuffix("\n")
            same = json_equal(read_yaml(text), value)
        except (yaml.YAMLError, RecursionError):
            return None
        fits = same and len(text) <= fields.MAX_LINES and has_no_invisible(text.replace("\n", ""))
        return text if fits and text else None

    def parsed(self, text: str) -> Any:
        if not text.strip():
            return ABSENT
        if len(text) > fields.MAX_LINES:
            raise InvalidInput(_("The text is too long."))
        try:
            value = read_yaml(text)
        except (yaml.YAMLError, RecursionError) as error:
            problem = getattr(error, "problem", None) or ""
            raise InvalidInput(
                _("Could not parse the YAML: %(problem)s.") % {"problem": problem}
            ) from error
        return ABSENT if value is None else value


def generated_wizard(gvr: GVR, api_kind: str, schema: KindSchema, *, namespaced: bool) -> Wizard:
    """Return the wizard of a type with this schema."""
    return _Generator(schema).wizard(gvr, api_kind, namespaced=namespaced)


class _Generator:
    def __init__(self, schema: KindSchema) -> None:
        self._schema = schema
        self._count = 0

    def wizard(self, gvr: GVR, api_kind: str, *, namespaced: bool) -> Wizard:
        root = self._schema.resolved(self._schema.root)
        steps = [
            Step(
                id="basics",
                title=gettext_lazy("Basics"),
                parts=(metadata.basics(gvr, namespaced=namespaced), metadata.LABELS),
                facts=lambda scope: name_of(scope.document),
            )
        ]
        required = _strings(root.get("required"))
        for number, (name, inner) in enumerate(_properties(root)):
            if name in _OF_EVERY_OBJECT:
                continue
            found = self._schema.resolved(inner)
            parts: Sequence[FormPart] = (
                self._fields(found, (name,), 1)
                if _properties(found)
                else (self._part(name, inner, f"f{number}", name in required, 1),)
            )
            steps.append(
                Step(
                    id=f"part{number}",
                    title=escape_invisible(name),
                    hint=_hint(found),
                    parts=parts,
                    is_optional=name not in required,
                )
            )
        return Wizard(slots=(Slot(id="", gvr=gvr, api_kind=api_kind),), steps=steps)

    def _fields(self, schema: Mapping[str, Any], path: Path, depth: int) -> list[FormPart]:
        """Return the parts of a mapping's fields: the required ones, then the optional ones."""
        required = _strings(schema.get("required"))
        needed: list[FormPart] = []
        optional: list[FormPart] = []
        for number, (name, inner) in enumerate(_properties(schema)):
            is_required = name in required
            part = self._part(name, inner, f"f{number}", is_required, depth)
            (needed if is_required else optional).append(part)
        found: list[FormPart] = [Group(path=path, parts=needed)] if needed else []
        if optional:
            names = [name for name, _inner in _properties(schema) if name not in required]

            def now(scope: FieldScope) -> str:
                count = sum(scope.has(name) for name in names)
                return ngettext("%(n)d set", "%(n)d set", count) % {"n": count}

            found.append(
                Group(
                    title=gettext_lazy("Optional fields") if needed else "",
                    path=path,
                    parts=optional,
                    is_advanced=bool(needed),
                    now=now,
                )
            )
        return found

    def _part(self, name: str, schema: Any, id: str, required: bool, depth: int) -> FormPart:
        self._count += 1
        found = self._schema.resolved(schema)
        given: dict[str, Any] = {
            "id": id,
            "path": (name,),
            "label": escape_invisible(name),
            "hint": _hint(found),
            "required": required,
        }
        if depth >= MAX_DEPTH or self._count > MAX_FIELDS:
            return YamlInput(**given)
        kind = found.get("type")
        if (
            found.get("x-kubernetes-int-or-string") is True
            or found.get("format") == "int-or-string"
        ):
            usage = gettext_lazy("Enter a number or a text.")
            return fields.IntOrText(**given, accepts=lambda value: True, usage=usage)
        if found.get("x-kubernetes-preserve-unknown-fields") is True:
            return YamlInput(**given)
        if kind == "object" or "properties" in found:
            return self._mapping(name, found, given, depth)
        if kind == "array":
            return self._list(name, found, given, depth)
        return _scalar(kind, found, given)

    def _mapping(
        self, name: str, schema: dict[str, Any], given: dict[str, Any], depth: int
    ) -> FormPart:
        if _properties(schema):
            return Group(
                title=given["label"],
                hint=given["hint"],
                is_advanced=not given["required"],
                is_optional=not given["required"],
                now=lambda scope: _("Set") if scope.get() else _("Not set"),
                path=(name,),
                parts=[
                    _Named(id=given["id"], part=part)
                    for part in self._fields(schema, (), depth + 1)
                ],
            )
        values = self._schema.resolved(schema.get("additionalProperties"))
        if values.get("type") == "string":
            return fields.Pairs(**given)
        return YamlInput(**given)

    def _list(
        self, name: str, schema: dict[str, Any], given: dict[str, Any], depth: int
    ) -> FormPart:
        items = self._schema.resolved(schema.get("items"))
        if items.get("type") == "string":
            return fields.Words(**given)
        if not _properties(items):
            return YamlInput(**given)
        texts = [one for one, inner in _properties(items) if self._is_text(inner)]

        def title(scope: FieldScope) -> str:
            named = (scope.get(one) for one in ("name", *texts))
            return next((one for one in named if isinstance(one, str) and one), given["label"])

        return Rows(
            id=given["id"],
            path=(name,),
            title=given["label"],
            hint=given["hint"],
            add=gettext_lazy("Add item"),
            is_item=True,
            name=title,
            parts=self._fields(items, (), depth + 1),
        )

    def _is_text(self, schema: Any) -> bool:
        return bool(self._schema.resolved(schema).get("type") == "string")


@dataclass(frozen=True, kw_only=True)
class _Named:
    """A part whose fields have a prefix, because fields of different mappings have the same ids."""

    id: str
    part: FormPart

    def within(self, scope: FieldScope) -> FieldScope:
        return scope.within((), f"{self.id}.")

    def bind(self, scope: FieldScope) -> Any:
        return self.part.bind(self.within(scope))

    def apply(self, scope: FieldScope) -> None:
        self.part.apply(self.within(scope))

    def strip(self, scope: FieldScope) -> None:
        self.part.strip(self.within(scope))

    def drop_unused(self, scope: FieldScope) -> None:
        self.part.drop_unused(self.within(scope))


def _scalar(kind: Any, schema: dict[str, Any], given: dict[str, Any]) -> FormPart:
    options = schema.get("enum")
    if isinstance(options, list) and options and all(isinstance(one, str) for one in options):
        default = schema.get("default")
        label = default if isinstance(default, str) else "—"
        choices = [Choice("", escape_invisible(label))]
        choices += [Choice(one, escape_invisible(one)) for one in options if one]
        return fields.Select(**given, choices=choices)
    if kind == "boolean":
        return YesNo(**given)
    if kind == "integer":
        least, most = (_limit(schema.get(name)) for name in ("minimum", "maximum"))
        return fields.NumberInput(
            **given,
            least=-_LARGE if least is None else least,
            most=_LARGE if most is None else most,
            size="short",
        )
    if kind == "string":
        return fields.TextInput(**given)
    return YamlInput(**given)


def _limit(value: Any) -> int | None:
    whole = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if whole and abs(value) < _LARGE else None


def _properties(schema: Mapping[str, Any]) -> list[tuple[str, Any]]:
    found = schema.get("properties")
    return [*found.items()] if isinstance(found, dict) else []


def _strings(value: Any) -> set[str]:
    return {one for one in value if isinstance(one, str)} if isinstance(value, list) else set()


def _hint(schema: Mapping[str, Any]) -> str:
    """Return the first sentence of a description."""
    text = schema.get("description")
    if not isinstance(text, str):
        return ""
    first = " ".join(text.split()).partition(". ")[0]
    return escape_invisible(first if len(first) <= MAX_HINT else f"{first[: MAX_HINT - 1]}…")
