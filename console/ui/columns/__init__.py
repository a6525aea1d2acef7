"""What a list shows of an object, one class per way of showing it.

A column is declared once per kind and serves every form of the list: the cell of the page and of the
socket (`value`, drawn by `template`), the sort (`sort_key`) and the export (`plain`).

| Column | for |
|---|---|
| `NameColumn`, `NamespaceColumn`, `StatusColumn`, `AgeColumn` | what most kinds have |
| `TextColumn`, `WordColumn`, `BoolColumn`, `ListColumn` | texts, Kubernetes' words, yes/no, several |
| `NumberColumn`, `RatioColumn`, `QuantityColumn`, `PercentColumn` | counts, 2/3, 250m and 4Gi, 61 % |
| `DurationColumn`, `AgeColumn` with its own `since` | lengths of time, moments |
| `IpColumn`, `LinkColumn`, `OwnerColumn` | addresses, other objects |
| `UsageColumn` | CPU and memory as measured, where they are |
| `PrintedColumn` | what a type's own definition shows |
| `ContainersColumn`, `ImagesColumn`, `SelectorColumn` | what workloads have |
"""

from console.ui.columns.base import Align, Column, Plain, SortKey
from console.ui.columns.links import (
    ANYWHERE,
    BY_KIND,
    LinkColumn,
    LinkText,
    OwnerColumn,
    Target,
    target_of,
    target_url,
)
from console.ui.columns.names import NameColumn, NamespaceColumn
from console.ui.columns.numbers import NumberColumn, PercentColumn, QuantityColumn, RatioColumn
from console.ui.columns.printed import PrintedColumn
from console.ui.columns.status import StatusColumn, StatusText
from console.ui.columns.texts import (
    BoolColumn,
    ContainersColumn,
    ImagesColumn,
    IpColumn,
    ListColumn,
    ListText,
    SelectorColumn,
    TextColumn,
    WordColumn,
)
from console.ui.columns.times import AgeColumn, DurationColumn
from console.ui.columns.usage import UsageColumn, UsageText, UsedBy, told

__all__ = [
    "ANYWHERE",
    "BY_KIND",
    "AgeColumn",
    "Align",
    "BoolColumn",
    "Column",
    "ContainersColumn",
    "DurationColumn",
    "ImagesColumn",
    "IpColumn",
    "LinkColumn",
    "LinkText",
    "ListColumn",
    "ListText",
    "NameColumn",
    "NamespaceColumn",
    "NumberColumn",
    "OwnerColumn",
    "PercentColumn",
    "Plain",
    "PrintedColumn",
    "QuantityColumn",
    "RatioColumn",
    "SelectorColumn",
    "SortKey",
    "StatusColumn",
    "StatusText",
    "Target",
    "TextColumn",
    "UsageColumn",
    "UsageText",
    "UsedBy",
    "WordColumn",
    "target_of",
    "target_url",
    "told",
]
