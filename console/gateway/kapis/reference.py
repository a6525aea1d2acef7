"""`/api-reference`: the page that lists the addresses of KubeSphere's API."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from console.gateway.kapis.modules import routes
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.views.page import page


@dataclass(frozen=True, slots=True)
class AddressRow:
    """An address with its methods. `parameters` are those of the query."""

    path: str
    methods: Sequence[str]
    parameters: Sequence[str]


@dataclass(frozen=True, slots=True)
class AddressGroup:
    """The addresses of a group version. `id` is the fragment of its heading."""

    id: str
    title: str
    rows: Sequence[AddressRow]


@page("GET")
async def reference_page(request: ConsoleRequest) -> HttpResponse:
    """Show the declared routes. `q` selects the addresses that contain a text."""
    wanted = escape_invisible(request.GET.get("q", "").strip())[:100]
    groups = [one for one in _groups(wanted.lower()) if one.rows]
    title = _("API reference")
    context = {"page_title": title, "groups": groups, "wanted": wanted}
    return render(request, "console/api_reference.html", context)


def _groups(wanted: str) -> list[AddressGroup]:
    found: dict[str, dict[str, tuple[list[str], list[str]]]] = {}
    for one in sorted(routes, key=lambda route: (route.full_path, route.method)):
        path = f"/kapis{one.full_path}"
        if wanted not in path.lower():
            continue
        paths = found.setdefault(one.group_version, {})
        methods, parameters = paths.setdefault(path, ([], []))
        methods.append(one.method)
        parameters += [query.name for query in one.query]
    return [
        AddressGroup(
            group.replace("/", "-").replace(".", "-") or "kapis",
            group or "/kapis",
            [AddressRow(path, *values) for path, values in paths.items()],
        )
        for group, paths in found.items()
    ]
