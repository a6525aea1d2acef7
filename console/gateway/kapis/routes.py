"""The routes below `/kapis`, declared by the modules of this package.

    @route("GET", "resources.kubesphere.io/v1alpha3", "/{resources}", summary=…, returns=LIST)
    async def list_everywhere(call: Call, resources: str) -> ObjectList: ...

A group version consists of its routes, so another module adds a group by declaring routes. A literal
segment takes precedence over a placeholder. The OpenAPI document is generated from the declarations.
"""

import re
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from console.gateway.errors import Refusal

Handler = Callable[..., Coroutine[Any, Any, Any]]

_PLACEHOLDER = re.compile(r"\{(\w+)\}")

#: Schemas of responses in the OpenAPI document.
LIST, OBJECT, ARRAY, MESSAGE, TEXT = "ObjectList", "Object", "Array", "Message", "Text"


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A query parameter in the OpenAPI document. `type` is a JSON type."""

    name: str
    description: str
    type: str = "string"


@dataclass(frozen=True, slots=True)
class Route:
    """`group_version` is empty for paths directly below `/kapis`. `public` routes need no
    credential. `writes` is True if a read-only token can't use the route.
    """

    method: str
    group_version: str
    path: str
    handler: Handler
    summary: str
    returns: str
    query: Sequence[QueryParameter] = ()
    public: bool = False
    writes: bool = False

    @property
    def full_path(self) -> str:
        return f"/{self.group_version}{self.path}" if self.group_version else self.path

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(self.full_path[1:].split("/"))

    @property
    def placeholders(self) -> tuple[str, ...]:
        return tuple(_PLACEHOLDER.findall(self.full_path))

    def match(self, segments: Sequence[str]) -> dict[str, str] | None:
        """Return the values of the placeholders, or None if the path is a different one."""
        found: dict[str, str] = {}
        for own, given in zip(self.segments, segments, strict=True):
            name = _PLACEHOLDER.fullmatch(own)
            if name is not None:
                found[name[1]] = given
            elif own != given:
                return None
        return found


class Routes:
    def __init__(self) -> None:
        self._routes: dict[tuple[str, int], list[Route]] = {}

    def add(self, added: Route) -> None:
        key = added.segments[0], len(added.segments)
        found = self._routes.setdefault(key, [])
        found.append(added)
        # Literal segments first.
        found.sort(key=lambda one: tuple(part.startswith("{") for part in one.segments))

    def find(self, method: str, segments: Sequence[str]) -> tuple[Route, dict[str, str]] | None:
        """Return the route of a request and the values of its placeholders, or None if no route has
        this path. Raise `Refusal` 405 if the path has no route for the method.
        """
        method = "GET" if method == "HEAD" else method
        others: set[str] = set()
        for one in self._routes.get((segments[0], len(segments)), ()):
            values = one.match(segments)
            if values is not None and one.method == method:
                return one, values
            if values is not None:
                others.add(one.method)
        if others:
            text = _("This method is not supported for this address.")
            raise Refusal(405, text, allow=", ".join(sorted(others)))
        return None

    def __iter__(self) -> Iterator[Route]:
        return (one for found in self._routes.values() for one in found)


routes = Routes()


def route(
    method: str,
    group_version: str,
    path: str,
    *,
    summary: str,
    returns: str = OBJECT,
    query: Sequence[QueryParameter] = (),
    public: bool = False,
    writes: bool | None = None,
) -> Callable[[Handler], Handler]:
    """Declare a route. The placeholders of `path` are passed to the handler by name."""

    def decorate(handler: Handler) -> Handler:
        changes = method != "GET" if writes is None else writes
        routes.add(
            Route(
                *(method, group_version, path, handler, summary, returns),
                query=query,
                public=public,
                writes=changes,
            )
        )
        return handler

    return decorate
