"""Options of the command palette for a query: pages, actions, places and objects. Reads no objects
itself.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, override, pgettext

from console.kube.gvr import NAMESPACES
from console.ui.core.clusters import HOST, Cluster
from console.ui.core.custom_kinds import GenericKind
from console.ui.core.kind import ResourceKind
from console.ui.core.kind_names import kinds_like
from console.ui.core.links import import_url
from console.ui.core.text import space_mixed_scripts
from console.ui.lists.viewspec import ViewSpec
from console.ui.navigation.level import Level
from console.ui.navigation.nav import RailEntry
from console.ui.search.query import SearchQuery
from console.ui.search.search import Hit, SearchResults

#: Maximum kinds and projects offered.
MOST = 6


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the palette.

    The browser opens `url`, or, if `field` is set, posts `field` with `value` to it. `hint` is
    the location and `severity` the state of an object. Both may be "".
    """

    text: str
    url: str
    hint: str = ""
    severity: str = ""
    field: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class OptionGroup:
    label: str | Promise
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class PaletteContext:
    """Everything available to the viewer besides kinds and objects.

    `pages` contains each page with the name of its level. `creations` contains the URL that
    creates an object of a kind. `creates` is True if the viewer can create any object.
    """

    pages: Sequence[tuple[RailEntry, str]] = ()
    creations: Sequence[tuple[ResourceKind, str]] = ()
    workspaces: Sequence[str] = ()
    projects: Sequence[str] = ()
    creates: bool = False


_THEMES = {
    "light": gettext_noop("Theme: light"),
    "dark": gettext_noop("Theme: dark"),
    "auto": gettext_noop("Theme: system"),
}


#: Other words for a command, which users may type.
_SYNONYMS = {gettext_noop("Sign out"): ("log out", "logout")}


def options_for(
    cluster: Cluster,
    query: SearchQuery,
    found: SearchResults,
    visible: Sequence[ResourceKind],
    offered: PaletteContext,
) -> tuple[OptionGroup, ...]:
    """Return the options for a query as groups, the most likely first, without empty groups.

    `visible` contains the kinds that the viewer can list, in menu order. Custom resources are
    included only if their names match the query.
    """
    projects = offered.projects
    groups = [
        OptionGroup(pgettext("palette", "Pages"), tuple(_pages(query, offered.pages))),
        OptionGroup(_("Lists"), tuple(_lists(cluster, query, visible, projects))),
        OptionGroup(_("Create"), tuple(_creations(query, offered.creations))),
        OptionGroup(_("Workspaces"), tuple(_workspaces(query, offered.workspaces))),
        OptionGroup(_("Projects"), tuple(_projects(cluster, query, projects))),
        *(
            OptionGroup(
                group.kind.title,
                (*(_object(hit) for hit in group.hits), *_all(group.total, group.hits, group.url)),
            )
            for group in found.groups
            # Projects have their own group above, which includes their content.
            if group.kind.plural != NAMESPACES.resource
        ),
        OptionGroup(_("Commands"), tuple(_commands(cluster, query, offered))),
        OptionGroup(_("Search"), tuple(_search(cluster, query))),
    ]
    return tuple(group for group in groups if group.options)


def _lists(
    cluster: Cluster,
    query: SearchQuery,
    visible: Sequence[ResourceKind],
    projects: Sequence[str],
) -> Iterator[Option]:
    if query.empty:
        yield from (_list(ViewSpec(kind, cluster.name)) for kind in visible)
        return
    kind = query.kind
    if kind is None or kind not in visible:
        if len(query.words) == 1 and not query.text.startswith("/"):
            named = [kind for kind in kinds_like(cluster.kinds, query.words[0]) if kind in visible]
            yield from (_list(ViewSpec(kind, cluster.name)) for kind in named[:MOST])
        return
    rest = query.rest
    if rest and rest[0] in projects and kind.view.namespaced:
        spec = query.list_of(kind, cluster.name).with_values("namespace", (rest[0],))
        text = " ".join(rest[1:])
        yield _list(spec.with_values("q", (text,) if text else ()))
    yield _list(query.list_of(kind, cluster.name))


def _list(spec: ViewSpec) -> Option:
    parts = [text for _param, texts in spec.values for text in texts]
    if isinstance(spec.kind, GenericKind):
        # Other types may have the same plural.
        parts.append(spec.kind.gvr.group)
    return Option(str(spec.kind.title), spec.url, " · ".join(parts))


def _projects(cluster: Cluster, query: SearchQuery, projects: Sequence[str]) -> Iterator[Option]:
    if len(query.words) != 1 or query.text.startswith("/"):
        return
    word = query.words[0]
    like = sorted((name for name in projects if word in name), key=lambda name: (len(name), name))
    for name in like[:MOST]:
        yield Option(name, Level("project", cluster.name, namespace=name).url)


def _object(hit: Hit) -> Option:
    severity = hit.status.severity if hit.status else ""
    return Option("".join(hit.name), hit.url, hit.namespace, severity)


def _all(total: int, hits: Sequence[Hit], url: str) -> Iterator[Option]:
    if total > len(hits):
        yield Option(_("All %(total)s") % {"total": f"{total:,}"}, url)


def _commands(cluster: Cluster, query: SearchQuery, offered: PaletteContext) -> Iterator[Option]:
    """Yield the commands that match in any supported language, so that a user can find the language
    setting when the console is in a foreign language.
    """
    for label, option in _all_commands(cluster, creates=offered.creates):
        if _names(query, [label, *_SYNONYMS.get(label, ()), *_in_each_language(partial(_, label))]):
            yield option


def _names(query: SearchQuery, names: Iterable[str]) -> bool:
    """Return True if each typed word is part of one of the names."""
    if query.labels or query.text.startswith("/"):
        return False
    folded = [name.casefold() for name in names]
    return all(any(word in name for name in folded) for word in query.words)


def _pages(query: SearchQuery, pages: Sequence[tuple[RailEntry, str]]) -> Iterator[Option]:
    for page, where in pages if not query.empty else ():
        if _names(query, [where, *_in_each_language(partial(str, page.label))]):
            yield Option(str(page.label), page.url, where)


def _creations(
    query: SearchQuery, creations: Sequence[tuple[ResourceKind, str]]
) -> Iterator[Option]:
    def label(kind: ResourceKind) -> str:
        return space_mixed_scripts(_("Create %(singular)s") % {"singular": kind.singular})

    found = (
        Option(label(kind), url)
        for kind, url in (creations if not query.empty else ())
        if _names(query, [kind.segment, *_in_each_language(partial(label, kind))])
    )
    return islice(found, MOST)


def _workspaces(query: SearchQuery, workspaces: Sequence[str]) -> Iterator[Option]:
    like = [name for name in workspaces if not query.empty and _names(query, [name])]
    for name in sorted(like, key=len)[:MOST]:
        yield Option(name, Level("workspace", workspace=name).url)


def _all_commands(cluster: Cluster, *, creates: bool) -> Iterator[tuple[str, Option]]:
    if creates:
        label = gettext_noop("Create from YAML")
        yield label, Option(_(label), import_url(cluster.name), cluster.name)
    for theme, label in _THEMES.items():
        yield label, Option(_(label), reverse("set_theme"), field="theme", value=theme)
    for lang, own in (("en", "English"), ("zh-hans", "中文")):
        label = f"Language: {own}"
        yield label, Option(own, reverse("set_language"), field="language", value=lang)
    label = gettext_noop("Sign out")
    yield label, Option(_(label), reverse("accounts:logout"), field="command", value="logout")


def _in_each_language(say: Callable[[], str]) -> Iterator[str]:
    for lang, _name in settings.LANGUAGES:
        with override(lang):
            yield say()


def _search(cluster: Cluster, query: SearchQuery) -> Iterator[Option]:
    if not query.empty:
        text = _("Search all resources for “%(text)s”") % {"text": query.text}
        asked = {"q": query.text} | ({} if cluster.name == HOST else {"cluster": cluster.name})
        yield Option(text, f"{reverse('search')}?{urlencode(asked)}")
