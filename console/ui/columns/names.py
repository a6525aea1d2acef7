"""What the object is called and where it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.kube.store import Entry
from console.ui.columns.base import Column
from console.ui.names import SplitName, split_name
from console.ui.text import visible


@dataclass(frozen=True, kw_only=True)
class NameColumn(Column):
    """The object's name, its generated end paler than what people chose.

    `owner` gives the controller that named it as `Kind/name`, for kinds whose controllers do.
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
        return visible(entry.key.namespace)

    def plain(self, entry: Entry[Any]) -> str:
        return entry.key.namespace
