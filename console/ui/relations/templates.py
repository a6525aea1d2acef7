"""Comparison of pod templates, line by line. Users write the templates, so their size is limited
first.
"""

from collections.abc import Mapping
from typing import Any

import yaml
from django.utils.translation import gettext as _

from console.ui.difference import WIDEST, DiffLine, diff_lines

#: Maximum lines to compare.
LONGEST = 1500
#: Labels that identify the revision and are not part of its content.
_OWN_LABELS = ("pod-template-hash", "controller-revision-hash")
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class TooLong(ValueError):
    """The template has too many lines to compare."""


def template_lines(template: Mapping[str, Any]) -> list[str]:
    """Return the template as lines of YAML with sorted keys. Raise `TooLong`."""
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
) -> tuple[list[DiffLine], str]:
    """Return the differing lines, or the reason why none are shown."""
    try:
        lines = diff_lines(template_lines(before), template_lines(after))
    except TooLong:
        return [], _("The pod templates are too long to compare here.")
    return lines, "" if lines else _("The pod templates are identical.")


def _without_own(metadata: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in metadata.items() if value is not None}
    labels = kept.get("labels")
    if isinstance(labels, dict):
        kept["labels"] = {k: v for k, v in labels.items() if k not in _OWN_LABELS}
    return kept
