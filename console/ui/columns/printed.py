"""Printer columns of custom resources."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise

from console.kube.projections.custom import Value
from console.kube.projections.definition import PrinterColumn
from console.kube.store import Entry
from console.ui.columns.base import Column, Plain
from console.ui.columns.texts import NO, YES
from console.ui.text import escape_invisible


@dataclass(frozen=True, kw_only=True)
class PrintedColumn(Column):
    """The value of a printer column, at index `at` of the columns `of`.

    The value is missing for objects that were decoded before the type's columns changed. Times
    are displayed as absolute times, because they may be in the future.
    """

    at: int
    of: tuple[PrinterColumn, ...]

    def _found(self, entry: Entry[Any]) -> Value:
        item = entry.projection
        return item.values[self.at] if item.columns == self.of else None

    def value(self, entry: Entry[Any]) -> str | Promise:
        found = self._found(entry)
        if found is None:
            return ""
        if isinstance(found, bool):
            return YES if found else NO
        if isinstance(found, datetime):
            return f"{found:%Y-%m-%d\N{NO-BREAK SPACE}%H:%M}"
        if isinstance(found, str):
            return escape_invisible(found)
        return f"{found:,}"

    def plain(self, entry: Entry[Any]) -> Plain:
        found = self._found(entry)
        if isinstance(found, bool):
            return str(found).lower()
        if isinstance(found, datetime):
            return found.isoformat().replace("+00:00", "Z")
        return str(found) if isinstance(found, float) else found

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, Any]:
        """All values of a column have the same type."""
        found = self._found(entry)
        if found is None:
            return (True, 0)
        return (False, found.timestamp() if isinstance(found, datetime) else found)
