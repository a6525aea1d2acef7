"""Columns for name and namespace."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.kube.store import Entry
from console.ui.columns.base import Column
from console.ui.names import SplitName, split_name
from console.ui.text import escape_invisible


@dataclass(frozen=True, kw_only=True)
class NameColumn(Column):
    """The object's name, with its generated suffix displayed dimmed.

    `owner` returns the controller that generated the name as `Kind/name`, for kinds with
    generated names.
    """

    id: str = "name"
    label: str | Promise = _("Name")
    priority: int = 1
    owner: Callable[[Any], str] = lambda item: ""
    template: ClassVar[str] = "ui/cells/name.html"

    def value(self, entry: Entry[Any]) -> str:
        return entry.key.name

    def split(self, entry: Entry[Any]) -> SplitName:
        item = entry.projection
        return split_name(entry.key.name, self.owner(item), item.labels)

    def plain(self, entry: Entry[Any]) -> str:
        return entry.key.name


@dataclass(frozen=True, kw_only=True)
class NamespaceColumn(Column):
    id: str = "namespace"
    label: str | Promise = _("Project")
    priority: int = 2

    def value(self, entry: Entry[Any]) -> str:
        return escape_invisible(entry.key.namespace)

    def plain(self, entry: Entry[Any]) -> str:
        return entry.key.namespace
