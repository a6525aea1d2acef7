"""Fields for label selectors, in kubectl's syntax."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from django.utils.translation import gettext_lazy

from console.kube.projections.common import Selector
from console.kube.selectors import (
    LabelSelector,
    Requirement,
    SelectorError,
    parse_labels,
)
from console.ui.core.words import translate_message
from console.ui.forms.forms import is_line
from console.ui.wizard import fields
from console.ui.wizard.fields import InvalidInput, Text
from console.ui.wizard.paths import ABSENT

_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
_NAMES = {symbol: name for name, symbol in _OPERATORS.items()}


def read_labels(value: Any) -> LabelSelector | None:
    """Return the selector in a manifest, with its requirements in the same order. Return None if it
    is invalid.
    """
    try:
        found = msgspec.convert(value, Selector)
    except msgspec.ValidationError:
        return None
    labels = [Requirement(k, "in", frozenset([v])) for k, v in (found.matchLabels or {}).items()]
    for one in found.matchExpressions or ():
        operator = _OPERATORS.get(one.operator or "")
        if operator is None or not one.key:
            return None
        labels.append(Requirement(one.key, operator, frozenset(one.values or ())))
    return LabelSelector(tuple(labels))


def write_labels(selector: LabelSelector) -> dict[str, Any]:
    """Return a selector as in a manifest. Raise `InvalidInput`."""
    labels: dict[str, str] = {}
    expressions: list[Mapping[str, Any]] = []
    for one in selector.requirements:
        operator = _NAMES.get(one.op)
        if operator is None:
            raise InvalidInput(str(gettext_lazy("Label selectors can't compare numbers.")))
        values = sorted(one.values)
        if operator == "In" and len(values) == 1 and one.key not in labels:
            labels[one.key] = values[0]
        else:
            held = {"values": values} if values else {}
            expressions.append({"key": one.key, "operator": operator, **held})
    return {
        **({"matchLabels": labels} if labels else {}),
        **({"matchExpressions": expressions} if expressions else {}),
    }


@dataclass(frozen=True, kw_only=True)
class SelectorInput(fields.Suggested):
    """A label selector. An empty text selects everything."""

    code: bool = True
    size: str = ""
    placeholder: Text = gettext_lazy("All")

    def shown(self, value: Any) -> str | None:
        if value is ABSENT or value == {}:
            return ""
        selector = read_labels(value) if isinstance(value, dict) else None
        text = ", ".join(map(str, selector.requirements)) if selector is not None else ""
        try:
            same = text and is_line(text, self.max_length) and self.parsed(text) == value
        except InvalidInput:
            return None
        return text if same else None

    def parsed(self, text: str) -> Any:
        try:
            return write_labels(parse_labels(str(super().parsed(text) or "")))
        except SelectorError as error:
            raise InvalidInput(str(translate_message(error.sentence))) from error
