"""Column for the status."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

from console.kube.status import Status
from console.kube.store import Entry
from console.ui.columns.base import Column
from console.ui.words import reason_text, translate


@dataclass(frozen=True, slots=True)
class StatusText:
    """The content of a status cell. Both texts are translated when rendered. A `reason` from
    Kubernetes stays unchanged.
    """

    severity: str
    word: str | Promise
    reason: str | Promise


@dataclass(frozen=True, kw_only=True)
class StatusColumn(Column):
    """Icon, word and reason of the status. Sorted by severity, most severe first. This is the
    default order of lists.
    """

    status: Callable[[Any], Status] = lambda item: item.status
    id: str = "status"
    label: str | Promise = pgettext_lazy("column", "Status")
    priority: int = 1
    template: ClassVar[str] = "ui/cells/status.html"

    def value(self, entry: Entry[Any]) -> StatusText:
        status = self.status(entry.projection)
        return StatusText(status.severity.value, translate(status.word), reason_text(status))

    def plain(self, entry: Entry[Any]) -> str:
        status = self.status(entry.projection)
        return f"{status.word}: {status.reason}" if status.reason else status.word

    def sort_key(self, entry: Entry[Any]) -> int:
        return self.status(entry.projection).severity.rank
