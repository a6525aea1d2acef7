"""A crawler that follows every link of every page without a browser.

It works breadth first in the order of addresses, so that two runs over the same data visit the
same pages.
"""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import parse_qsl, unquote, urldefrag, urlencode, urljoin, urlsplit

import aiohttp
from django.urls import Resolver404, resolve
from yarl import URL

from console.ui.lists.export import FORMATS
from tests.support.depth import choice

#: Maximum number of concurrent requests per user.
AT_ONCE = 4
#: Media types by the `format` parameter of a link.
TYPES = {
    **FORMATS,
    "jsonl": "application/jsonl",
    "yaml": "application/yaml; charset=utf-8",
    "text": "text/plain; charset=utf-8",
}
#: Media types of downloaded folders and files of a container.
DOWNLOADS = frozenset(("application/x-tar", "application/octet-stream"))
#: Names of URL parameters that contain user-defined object names.
OBJECTS = frozenset(("name", "namespace", "user", "group"))
#: An action or tab is requested for this many of the kinds that have it.
KINDS = range(4)
_TAG = re.compile(r"<(/?[a-z][a-z0-9]*)((?:\s+[^\s=>]+(?:=\"[^\"]*\")?)*)\s*/?>")
_ATTRIBUTE = re.compile(r"([^\s=>]+)(?:=\"([^\"]*)\")?")
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


@dataclass(frozen=True, order=True)
class Link:
    """A link. `url` is a path with its query; `part` is true for htmx requests."""

    url: str
    part: bool = False


@dataclass
class Form:
    """A form with method GET and its field values."""

    url: str
    fields: list[tuple[str, str]] = field(default_factory=list)

    @property
    def link(self) -> Link:
        return Link(
            f"{urlsplit(self.url).path}?{urlencode(self.fields)}" if self.fields else self.url
        )


def links_of(html: str, here: str) -> Iterator[Link]:
    """Yield the targets of links, GET forms, and htmx attributes of a page, without external sites
    and hidden links.
    """
    form: Form | None = None
    for tag, text in _TAG.findall(html):
        given = {name: unescape(value) for name, value in _ATTRIBUTE.findall(text)}
        match tag:
            case "a" if "href" in given and "hidden" not in given:
                yield from _own(given["href"], here)
            case "form" if given.get("method", "get").lower() == "get":
                form = Form(given.get("action") or here)
            case "/form" if form is not None:
                yield from _own(form.link.url, here)
                form = None
            case "input" if form is not None and given.get("type") not in ("checkbox", "radio"):
                if "name" in given:
                    form.fields.append((given["name"], given.get("value", "")))
        if "hx-get" in given:
            for link in _own(given["hx-get"] or here, here):
                yield Link(link.url, part=True)


def _own(href: str, here: str) -> Iterator[Link]:
    if not href.startswith("#") and not urlsplit(href).netloc:
        yield Link(urldefrag(urljoin(here, href)).url)


def parts_of(url: str, *, whole: bool, part: bool = False) -> frozenset[tuple[str, ...]]:
    """Return the parts of a URL that decide if the page was visited already: its path, and each
    query parameter separately, since any combination of parameters is a page.

    Unless `whole`, objects of a kind count as one, and so do projects, users, and a parameter
    within the same view. Of the pages that are the same for all kinds, each is visited for a few
    kinds. For an htmx request (`part`), each tab of a view is visited once for all kinds.
    """
    parts = urlsplit(url)
    path = unquote(parts.path)
    query = parse_qsl(parts.query, keep_blank_values=True)
    names = {f"{name}={value}" if name == "format" else name for name, value in query}
    bare, view = ((path,), (path,)) if whole else _alike(path, part=part)
    return frozenset({(*view, name) for name in names} or {(*bare, "")})


def _alike(path: str, *, part: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the group of equivalent pages that a path belongs to, and its view."""
    try:
        match = resolve(path)
    except Resolver404:
        return (path,), (path,)
    if part:
        tab = (match.view_name, match.kwargs.get("tab", ""))
        return tab, tab
    given = dict(match.kwargs)
    if not given.keys() & OBJECTS:
        return (path,), (match.view_name,)
    if match.view_name != "detail" or given.get("tab"):
        given["resource"] = choice(f"{given.get('resource')} {given.get('action')}", KINDS)
    bare = [f"{name}={value}" for name, value in sorted(given.items()) if name not in OBJECTS]
    return (match.view_name, *bare), (match.view_name,)


@dataclass
class Person:
    """A signed-in user. `visited` counts pages; `dead` lists broken links with the page that
    contains them.
    """

    name: str
    session: aiohttp.ClientSession
    whole: bool = False
    visited: int = 0
    dead: list[str] = field(default_factory=list)
    _seen: set[tuple[str, ...]] = field(default_factory=set)

    async def sign_in(self, password: str) -> None:
        async with self.session.get("/login") as answer:
            token = _TOKEN.search(await answer.text())
        assert token
        form = {
            "csrfmiddlewaretoken": token[1],
            "username": self.name,
            "password": password,
        }
        async with self.session.post("/login", data=form, allow_redirects=False) as answer:
            assert answer.status == 302, await answer.text()

    async def walk(self, start: str) -> None:
        turns = asyncio.Semaphore(AT_ONCE)

        async def visit(link: Link) -> list[Link] | str:
            async with turns:
                return await self._visit(link)

        found = {Link(start): "the start"}
        while level := [link for link in sorted(found) if self._is_new(link)]:
            answers = await asyncio.gather(*map(visit, level))
            offered: dict[Link, str] = {}
            for link, answer in zip(level, answers, strict=True):
                if isinstance(answer, str):
                    self.dead.append(f"{self.name}: {link.url} on {found[link]}: {answer}")
                else:
                    offered |= {one: link.url for one in answer if one not in offered}
            found = offered

    def _is_new(self, link: Link) -> bool:
        parts = {
            (*one, "part" if link.part else "")
            for one in parts_of(link.url, whole=self.whole, part=link.part)
        }
        new = not parts <= self._seen
        self._seen |= parts
        return new

    async def _visit(self, link: Link) -> list[Link] | str:
        """Return the links of the page, or an error message."""
        headers = {"HX-Request": "true"} if link.part else {}
        asked = URL(link.url, encoded=True)
        async with self.session.get(asked, headers=headers, allow_redirects=False) as answer:
            self.visited += 1
            if answer.status in (301, 302, 303, 307, 308):
                to = answer.headers["Location"]
                return to if to.startswith("/login") else list(_own(to, link.url))
            if answer.status == 409 and "/actions/" in str(answer.url):
                # 409 is accepted: the page explains why the action is unavailable, which a table
                # row cannot know.
                return []
            if answer.status != 200:
                return str(answer.status)
            format_ = dict(parse_qsl(urlsplit(link.url).query)).get("format", "html")
            wanted, kind = TYPES.get(format_), answer.headers.get("Content-Type", "none")
            if format_ == "download" and kind in DOWNLOADS:
                return []
            if kind != (wanted or "text/html; charset=utf-8"):
                return kind
            return [] if wanted else list(dict.fromkeys(links_of(await answer.text(), link.url)))
