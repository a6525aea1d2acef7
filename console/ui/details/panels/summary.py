"""The cause of an object's state, and a summary of its columns."""

from dataclasses import dataclass
from typing import Literal

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from console.kube.status import Severity
from console.ui.core.manifests import mapping
from console.ui.core.subject import Subject
from console.ui.details.panels import NOTHING, Panel
from console.ui.diagnosis.diagnosis import Diagnosis, diagnose
from console.ui.lists.columns import NameColumn, StatusColumn
from console.ui.lists.rows import make_row

#: States in which no cause is shown.
_CALM = frozenset({Severity.OK.value, Severity.DONE.value, Severity.PAUSED.value})


Trouble = tuple[Severity, Diagnosis]


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of an unhealthy state. `diagnosis` is None if only the `reason` is known."""

    severity: str
    diagnosis: Diagnosis | None
    reason: str | Promise


@dataclass(frozen=True, kw_only=True)
class CausePanel(Panel):
    """The cause of an unhealthy state."""

    id: str = "cause"
    title: str | Promise = _("Cause")
    place: Literal["above", "left", "right"] = "above"

    def problem(self, subject: Subject) -> Trouble | None:
        """Return a problem that is visible only in other objects, or None."""
        return None

    def cause(self, subject: Subject) -> Cause | None:
        """Return the cause, or None for a healthy object or an unknown cause."""
        column = subject.kind.status_column
        status = column.value(subject.entry) if column else None
        ending = mapping(subject.manifest, "metadata").get("deletionTimestamp")
        trouble = None if ending else self.problem(subject)
        if trouble is not None:
            return Cause(trouble[0].value, trouble[1], trouble[1].reason)
        calm = status is not None and status.severity in _CALM
        cause = None if calm else diagnose(subject.manifest)
        if cause is None and not (status and status.reason):
            return None
        reason = (cause.reason if cause else "") or (status.reason if status else "")
        return Cause(status.severity if status else "", cause, reason)

    def html(self, subject: Subject) -> SafeString:
        found = self.cause(subject)
        if found is None:
            return NOTHING
        context = {"severity": found.severity, "cause": found.diagnosis, "reason": found.reason}
        return render_to_string("ui/panels/cause.html", context)


@dataclass(frozen=True, kw_only=True)
class SummaryPanel(Panel):
    id: str = "summary"
    title: str | Promise = _("Summary")

    def html(self, subject: Subject) -> SafeString:
        row = make_row(subject.kind, subject.access, subject.entry)
        heads = (NameColumn, StatusColumn)
        facts = [
            (cell, cell.template.replace("/cells/", "/values/"))
            for cell, column in zip(row.cells, subject.kind.columns, strict=True)
            if not isinstance(column, heads)
        ]
        return render_to_string("ui/panels/summary.html", {"facts": facts})
