"""Menu entries of each level. An entry is a page or the lists of several kinds.

A page declares its entry with `console.views.page.page(menu=…)`. The name and the arguments of the
entry's URL come from the URL configuration. Several views can share an entry: the first URL is the
entry's own, and the other pages highlight the entry.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from django.urls import URLResolver, get_resolver
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.ui.core.access import Access

LevelName = Literal["platform", "cluster", "workspace", "project"]
#: URL arguments that select a level. They are also attributes of
#: `console.ui.navigation.level.Level`.
PLACE = ("cluster", "workspace", "namespace")


@dataclass(frozen=True, slots=True, eq=False)
class MenuEntry:
    """A menu entry of one or more levels, which are sorted by `order`.

    `may` returns True if the viewer can open the page, and `may_here` if the viewer can open it in a
    project or workspace with this name. `kinds` is the `Nav.entry` of the kinds
    whose lists the entry stands for, or "" for a page.
    """

    levels: tuple[LevelName, ...]
    order: int
    label: str | Promise
    icon: str
    may: Callable[[Access], bool] = lambda _access: True
    kinds: str = ""
    may_here: Callable[[Access, str], bool] = lambda _access, _place: True


#: Order, label and icon of the first page of each level.
OVERVIEW = 0, gettext_lazy("Overview"), "gauge"
_CLUSTER: tuple[LevelName, ...] = ("cluster",)
_BOTH: tuple[LevelName, ...] = ("cluster", "project")
USERS_ENTRY = MenuEntry(("platform",), 30, gettext_lazy("Users"), "users", kinds="users")
#: The page that lists all kinds, including kinds without an entry.
RESOURCES_ENTRY = MenuEntry(_BOTH, 140, gettext_lazy("More resources"), "layout-grid")

#: Entries of kinds, by `Nav.entry`.
NAV_ENTRIES = {
    entry.kinds: entry
    for entry in (
        USERS_ENTRY,
        MenuEntry(_CLUSTER, 10, gettext_lazy("Nodes"), "server", kinds="nodes"),
        MenuEntry(_CLUSTER, 20, gettext_lazy("Projects"), "folder", kinds="projects"),
        MenuEntry(_BOTH, 30, gettext_lazy("Workloads"), "layers", kinds="workloads"),
        MenuEntry(_BOTH, 40, gettext_lazy("Pods"), "box", kinds="pods"),
        MenuEntry(_BOTH, 50, gettext_lazy("Services and routes"), "network", kinds="network"),
        MenuEntry(_BOTH, 60, gettext_lazy("Configuration"), "file-sliders", kinds="config"),
        MenuEntry(_BOTH, 70, gettext_lazy("Storage"), "database", kinds="storage"),
        MenuEntry(("project",), 80, gettext_lazy("Autoscaling"), "scaling", kinds="autoscaling"),
        MenuEntry(_BOTH, 90, gettext_lazy("Events"), "activity", kinds="events"),
        MenuEntry(_CLUSTER, 100, gettext_lazy("Custom resources"), "puzzle", kinds="custom"),
        MenuEntry(_BOTH, 110, gettext_lazy("Access"), "shield-check", kinds="access"),
        MenuEntry(("project",), 130, gettext_lazy("Quotas and limits"), "scale", kinds="quota"),
    )
}


class EntryPage(NamedTuple):
    """The URL of an entry: its name, and its arguments as attributes of the level."""

    name: str
    place: tuple[str, ...]


class Menu(NamedTuple):
    """The entries of each level in display order, the URLs of entries that are pages, and the
    entries of all pages by URL name.
    """

    levels: Mapping[LevelName, list[MenuEntry]]
    pages: Mapping[MenuEntry, EntryPage]
    by_name: Mapping[str, MenuEntry]


def menu() -> Menu:
    """Return the menu of the URL configuration."""
    return _menu(get_resolver())


@lru_cache(1)
def _menu(resolver: URLResolver) -> Menu:
    pages: dict[MenuEntry, EntryPage] = {}
    by_name: dict[str, MenuEntry] = {}
    for entry, page in _declared_pages(resolver):
        # The same view at a different level, such as the page of a project role, is not part of the
        # entry.
        if pages.setdefault(entry, page).place == page.place:
            by_name[page.name] = entry
    entries = sorted({*pages, *NAV_ENTRIES.values()}, key=lambda entry: entry.order)
    levels = {name: [one for one in entries if name in one.levels] for name in get_args(LevelName)}
    return Menu(levels, pages, by_name)


def _declared_pages(
    resolver: URLResolver, namespace: str = ""
) -> Iterator[tuple[MenuEntry, EntryPage]]:
    for one in resolver.url_patterns:
        if isinstance(one, URLResolver):
            inner = f"{namespace}{one.namespace}:" if one.namespace else namespace
            yield from _declared_pages(one, inner)
        elif one.name and (entry := getattr(one.callback, "menu", None)) is not None:
            place = tuple(name for name in one.pattern.converters if name in PLACE)
            yield entry, EntryPage(f"{namespace}{one.name}", place)
