"""Results of an import for display: a summary, and the rows that matter most."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.ui.editing.diff import Difference
from console.views.importing import ObjectResult

#: Maximum number of displayed results, and of displayed lines of all diffs.
MAX_ROWS, MAX_LINES = 200, 4000
REVIEW, DONE = "review", "done"
_UNCHANGED = gettext_lazy("No changes")
_NOT_ATTEMPTED = gettext_lazy("Not attempted")
#: Labels by phase, change and outcome.
_WORDS: Mapping[tuple[str, str, str], str | Promise] = {
    (REVIEW, "create", "done"): gettext_lazy("Can be created"),
    (REVIEW, "create", "refused"): gettext_lazy("Cannot be created"),
    (REVIEW, "create", "untried"): gettext_lazy("Not fully checked"),
    (REVIEW, "update", "done"): gettext_lazy("Will be updated"),
    (REVIEW, "update", "refused"): gettext_lazy("Cannot be updated"),
    (REVIEW, "delete", "done"): gettext_lazy("Will be deleted"),
    (REVIEW, "delete", "refused"): gettext_lazy("Cannot be deleted"),
    (DONE, "create", "done"): pgettext_lazy("result", "Created"),
    (DONE, "create", "refused"): gettext_lazy("Not created"),
    (DONE, "update", "done"): pgettext_lazy("result", "Updated"),
    (DONE, "update", "refused"): gettext_lazy("Not updated"),
    (DONE, "delete", "done"): pgettext_lazy("result", "Deleted"),
    (DONE, "delete", "refused"): gettext_lazy("Not deleted"),
    (REVIEW, "keep", "done"): _UNCHANGED,
    (DONE, "keep", "done"): _UNCHANGED,
}
_SEVERITIES = {"done": "done", "refused": "error", "untried": "unknown"}
#: Rows that are shown first if there are too many.
_FIRST = ("refused", "untried", "done")


@dataclass(frozen=True, slots=True)
class ResultRow:
    """Result for display. `difference` is None if the object is not updated or no room is left."""

    result: ObjectResult
    word: str | Promise
    severity: str
    difference: Difference | None = None


def shown_results(results: Sequence[ObjectResult], phase: str) -> dict[str, Any]:
    """Return the template context of `console/_import_results.html`."""
    words = [_word(one, phase) for one in results]
    order: Sequence[int] = range(len(results))
    if len(results) > MAX_ROWS:
        order = sorted(order, key=lambda at: _weight(results[at]))[:MAX_ROWS]
    rows, lines = [], 0
    for at in sorted(order):
        one = results[at]
        differs = one.preview.difference if one.preview is not None and phase == REVIEW else None
        if differs is not None:
            lines += len(differs.lines)
        shown = differs if lines <= MAX_LINES else None
        rows.append(ResultRow(one, words[at], _SEVERITIES[one.outcome], shown))
    counts = Counter(map(str, words))
    return {"rows": rows, "left_out": len(results) - len(rows), "counts": [*counts.items()]}


def _word(result: ObjectResult, phase: str) -> str | Promise:
    return _WORDS.get((phase, result.change, result.outcome), _NOT_ATTEMPTED)


def _weight(result: ObjectResult) -> tuple[int, bool]:
    return _FIRST.index(result.outcome), result.change != "update"
