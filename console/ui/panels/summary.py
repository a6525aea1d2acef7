"""Why the object is as it is, and what the columns of its kind say of it."""

from dataclasses import dataclass
from typing import Literal

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from console.kube.status import Severity
from console.ui.causes import cause_of
from console.ui.columns import NameColumn, StatusColumn
from console.ui.panels import NOTHING, Panel
from console.ui.rows import make_row
from console.ui.subject import Subject

#: States in which nobody looks for a cause.
_CALM = frozenset({Severity.OK.value, Severity.DONE.value, Severity.PAUSED.value})


@dataclass(frozen=True, kw_only=True)
class CausePanel(Panel):
    """Why the object is as it is, where that is not well."""

    id: str = "cause"
    title: str | Promise = _("Cause")
    place: Literal["above", "left", "right"] = "above"

    def html(self, subject: Subject) -> SafeString:
        column = subject.kind.status_column
        status = column.value(subject.entry) if column else None
        calm = status is not None and status.severity in _CALM
        cause = None if calm else cause_of(subject.manifest)
        if cause is None and not (status and status.reason):
            return NOTHING
        return render_to_string("ui/panels/cause.html", {"status": status, "cause": cause})


@dataclass(frozen=True, kw_only=True)
class SummaryPanel(Panel):
    id: str = "summary"
    title: str | Promise = _("Summary")

    def html(self, subject: Subject) -> SafeString:
        row = make_row(subject.kind, subject.cluster, subject.access, subject.entry)
        heads = (NameColumn, StatusColumn)
        facts = [
            (cell, cell.template.replace("/cells/", "/values/"))
            for cell, column in zip(row.cells, subject.kind.columns, strict=True)
            if not isinstance(column, heads)
        ]
        return render_to_string("ui/panels/summary.html", {"facts": facts})
