"""The peek panel: a summary of an object next to its list.

Its content consists of parts of the object's page, with the same permission checks. It is not
cached, because it depends on the viewer and on the list.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from django.http import HttpResponse
from django.template.loader import render_to_string

from console.kube.gvr import GVR, Key
from console.ui.core.access import Access
from console.ui.core.kind import ResourceKind
from console.ui.core.link_resolver import LinkResolver, prepare_links
from console.ui.core.object_source import live_state, open_loaded_source, truncated_at
from console.ui.core.page_data import FIRST_LIST_WAIT
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest, vary_on_htmx
from console.ui.details.detail import Detail, detail, start_informers
from console.ui.details.panels.standard import peek_tab
from console.ui.fragments.empty_states import (
    denied_text,
    loading_block,
    missing_text,
    not_installed_text,
)
from console.ui.lists.viewspec import ViewSpec
from console.ui.navigation.page_routes import DetailRoute, detail_route
from console.views.back_link import ObjectPath

#: Query parameter of a list with the key of the object in the panel: "project/name" or "name".
PARAMETER = "peek"


@dataclass(frozen=True, slots=True)
class Peek:
    """The content of the panel. If `detail` is None, `text` explains why. `last` is the HTML of the
    kind's `PeekPart`. `code` is the HTTP status of a response that contains only the panel.
    """

    key: str
    detail: Detail | None = None
    last: str = ""
    text: str = ""
    code: int = 200


class PeekPart(Protocol):
    """Renders a part of the panel that is read as the viewer, or "" for an empty part."""

    async def __call__(
        self, request: ConsoleRequest, access: Access, kind: ResourceKind, key: Key
    ) -> str: ...


K = TypeVar("K", bound=type[ResourceKind])
_parts: dict[GVR, PeekPart] = {}


def peek_part(part: PeekPart) -> Callable[[K], K]:
    """Return a class decorator that adds a part to the end of a kind's panel."""

    def declare(cls: K) -> K:
        _parts[cls.gvr] = part
        return cls

    return declare


async def find_peek(request: ConsoleRequest, text: str, spec: ViewSpec, access: Access) -> Peek:
    """Return the panel for the object with the key `text` in the list `spec`."""
    kind = spec.kind
    namespace, _slash, name = text.partition("/") if kind.view.namespaced else ("", "", text)
    key = Key(namespace, name)
    place = detail_route(access.cluster, namespace, kind.segment, name)
    if place is None or not name:
        return Peek(text, text=missing_text(kind, key), code=404)
    try:
        peek = await _read(replace(place, tab=peek_tab(kind)), spec, access)
        part = _parts.get(kind.gvr)
        if peek.detail is None or part is None:
            return peek
        return replace(peek, last=await part(request, access, kind, key))
    except Denied as denied:
        return Peek(text, text=denied_text(denied, kind.nouns), code=403)


async def _read(place: DetailRoute, spec: ViewSpec, access: Access) -> Peek:
    # Before the informer is started: users must not start watches of resources they can't read.
    place.check(access)
    kind, key = place.kind, place.key
    path = ObjectPath(kind, access, key, spec.url, None if spec.errors else spec.query)
    reading = open_loaded_source(kind, access, place.namespaces, key, seconds=FIRST_LIST_WAIT)
    async with reading as informer:
        if informer.not_installed:
            return Peek(str(key), text=not_installed_text(kind), code=404)
        if not informer.freshness.synced:
            refused = informer.refusal is not None
            block = loading_block(kind, live_state(informer).problem, refused=refused)
            return Peek(str(key), text=f"{block.text} {block.reason}".strip(), code=503)
        entry = informer.store.get(key)
        if entry is not None:
            await prepare_links(kind, LinkResolver(access), [entry], seconds=FIRST_LIST_WAIT)
        found = detail(
            place,
            access,
            informer,
            start_informers(place.needs, access),
            with_list=path.with_list,
            head_template="ui/detail/_peek_head.html",
        )
        cut = truncated_at(informer)
    if found is None:
        return Peek(str(key), text=missing_text(kind, key, cut), code=404)
    return Peek(str(key), found)


def peek_response(peek: Peek) -> HttpResponse:
    response = HttpResponse(render_to_string("ui/_peek.html", {"peek": peek}), status=peek.code)
    vary_on_htmx(response)
    return response
