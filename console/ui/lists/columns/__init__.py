"""List columns, one class per presentation.

A column is declared once per kind and used for the table cell (`value`, rendered by `template`),
for sorting (`sort_key`) and for exports (`plain`).

| Column | for |
|---|---|
| `NameColumn`, `NamespaceColumn`, `StatusColumn`, `AgeColumn` | most kinds |
| `TextColumn`, `WordColumn`, `BoolColumn`, `ListColumn` | texts, API terms, yes/no, several texts |
| `NumberColumn`, `RatioColumn`, `QuantityColumn`, `PercentColumn` | counts, 2/3, 250m and 4Gi, 61 % |
| `DurationColumn`, `AgeColumn` with another `since` | durations, points in time |
| `IpColumn`, `LinkColumn`, `OwnerColumn` | addresses, links to other objects |
| `UsageColumn` | measured CPU and memory usage |
| `PrintedColumn` | printer columns of custom resources |
| `ContainersColumn`, `ImagesColumn`, `SelectorColumn` | workloads |
"""

from console.ui.lists.columns.base import Align, Column, Plain, SortKey
from console.ui.lists.columns.links import (
    ANY_KIND,
    BY_KIND,
    LinkColumn,
    LinkTarget,
    LinkText,
    OwnerColumn,
    target_of,
    target_url,
)
from console.ui.lists.columns.numbers import (
    AgeColumn,
    DurationColumn,
    NumberColumn,
    PercentColumn,
    QuantityColumn,
    RatioColumn,
    UsageColumn,
    UsageText,
    UsedBy,
    with_usage,
)
from console.ui.lists.columns.texts import (
    BoolColumn,
    ContainersColumn,
    ImagesColumn,
    IpColumn,
    ListColumn,
    ListText,
    NameColumn,
    NamespaceColumn,
    PrintedColumn,
    SelectorColumn,
    StatusColumn,
    StatusText,
    TextColumn,
    WordColumn,
)

__all__ = [
    "ANY_KIND",
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
    "LinkTarget",
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
    "TextColumn",
    "UsageColumn",
    "UsageText",
    "UsedBy",
    "WordColumn",
    "target_of",
    "target_url",
    "with_usage",
]
