"""Pod templates as lines that can be compared. Tenants wrote them: they are bounded before that."""

from collections.abc import Mapping
from typing import Any

import yaml
from django.utils.translation import gettext as _

from console.ui.difference import WIDEST, Line, compared

#: Lines that are compared.
LONGEST = 1500
#: Labels and the like that say which revision it is, and nothing of what is in it.
_OWN_LABELS = ("pod-template-hash", "controller-revision-hash")
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class TooLong(ValueError):
    """Nobody could read what differs between templates of that length."""


def template_lines(template: Mapping[str, Any]) -> list[str]:
    """The template as YAML, keys in order. Raises `TooLong`."""
    metadata = template.get("metadata")
    kept = {key: value for key, value in template.items() if key != "$patch"}
    if isinstance(metadata, dict):
        kept["metadata"] = _without_own(metadata)
    try:
        text = yaml.dump(kept, Dumper=_Dumper, allow_unicode=True, width=WIDEST)
    except RecursionError as error:
        raise TooLong from error
    lines = text.split("\n")[:-1]
    if len(lines) > LONGEST:
        raise TooLong
    return lines


def template_difference(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[list[Line], str]:
    """What differs line by line, or why nothing is shown of it."""
    try:
        lines = compared(template_lines(before), template_lines(after))
    except TooLong:
        return [], _("These are too long to compare here.")
    return lines, "" if lines else _("Their pod templates are the same.")


def _without_own(metadata: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in metadata.items() if value is not None}
    labels = kept.get("labels")
    if isinstance(labels, dict):
        kept["labels"] = {k: v for k, v in labels.items() if k not in _OWN_LABELS}
    return kept
