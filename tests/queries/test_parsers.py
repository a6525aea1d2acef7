"""Every parser of a query string accepts any text: it returns a value or reports an error."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.http import QueryDict
from django.urls import resolve
from hypothesis import given, settings
from hypothesis import strategies as st

from access.rights.permission_check import read_question
from accounts.signin.next_url import START, safe_next_url
from console.files.query import read_query as read_files_query
from console.logs.query import BadQuery
from console.logs.query import read_query as read_log_query
from console.terminals.query import read_query as read_terminal_query
from console.ui.core.clusters import clusters
from console.ui.core.requests import own_path
from console.ui.lists.viewspec import ViewSpec
from console.ui.navigation.page_routes import resolve_page
from console.ui.search.query import parse_search
from tests.leaks.world import KINDS
from tests.queries.hostile_queries import value
from tests.support.depth import number

EXAMPLES = settings(max_examples=number(300, 20_000))
LOG = (
    *(
        "container",
        "previous",
        "tail",
        "since",
        "timestamps",
        "wrap",
        "q",
        "level",
        "context",
        "at",
    ),
    *("line", "label"),
)
EXTREMES = ("0001-01-01T00:00:00.000000000Z", "9999-12-31T23:59:59.999999999Z")
moments = st.sampled_from(EXTREMES) | st.datetimes().map(
    lambda moment: f"{moment.isoformat(timespec='microseconds')}000Z"
)


def query_dict(names: tuple[str, ...], texts: st.SearchStrategy[str] = value) -> Any:
    """Strategy for queries with some of these parameters."""
    return st.dictionaries(st.sampled_from(names), texts, max_size=6).map(_query_dict)


def _query_dict(given: dict[str, str]) -> QueryDict:
    found = QueryDict(mutable=True)
    found.update(given)
    return found


@pytest.mark.parametrize(
    "url", ["http://testserver", "http://testserver.evil/a", "https://testserver/a", "http://[", ""]
)
def test_urls_of_other_sites_have_no_path(url: str) -> None:
    assert own_path(url) == ""


def test_path_of_an_own_url_has_its_query_but_no_fragment() -> None:
    assert own_path("http://testserver/a?b=c#d") == "/a?b=c"
    assert own_path("http://testserver//[") == "//["


@given(query_dict(("at", "line", "since"), moments) | query_dict(LOG), st.booleans())
@EXAMPLES
def test_log_queries(params: QueryDict, whole: bool) -> None:
    with suppress(BadQuery):
        found = read_log_query(params, whole=whole)
        for verbatim in (False, True):
            found.request_params("app", verbatim=verbatim)
        assert read_log_query(QueryDict(found.encoded()), whole=whole) == found


@pytest.mark.parametrize(
    ("read", "names"),
    [
        (read_files_query, ("container", "path")),
        (read_terminal_query, ("container", "shell", "attach")),
    ],
)
@given(data=st.data())
@EXAMPLES
def test_container_queries(
    read: Callable[[QueryDict], Any], names: tuple[str, ...], data: st.DataObject
) -> None:
    with suppress(BadQuery):
        found = read(data.draw(query_dict(names)))
        assert read(QueryDict(found.encoded())) == found


@given(st.sampled_from(KINDS), st.data())
@EXAMPLES
def test_list_queries_of_every_kind(kind: Any, data: st.DataObject) -> None:
    names = ("sort", "page", "limit", "columns", *(one.param for one in kind.every_filter))
    spec = ViewSpec.parse(kind, data.draw(query_dict(names)), cluster="host")
    if not spec.errors:
        assert ViewSpec.parse(kind, QueryDict(spec.query), cluster="host").query == spec.query


@given(query_dict(("verb", "resource", "namespace", "name")))
@EXAMPLES
def test_questions_about_permissions(params: QueryDict) -> None:
    read_question(params)


@given(value)
@EXAMPLES
def test_searches(text: str) -> None:
    parse_search(clusters.host.kinds, text)


@given(value, value)
@EXAMPLES
def test_addresses_of_live_pages(path: str, query: str) -> None:
    for url in (path, f"{path}?{query}", f"/clusters/host/pods?{query}", f"/search?{query}"):
        resolve_page(url)


@given(value)
@EXAMPLES
def test_destinations_after_sign_in(text: str) -> None:
    for url in (text, f"/{text}", f"/\t/{text}", f"/dashboard?{text}", f"/dashboard#{text}"):
        found = safe_next_url(url)
        assert found in (START, url)
        assert resolve(found.partition("?")[0].partition("#")[0])
