"""Pages accept any query and header with a status below 500 and without a traceback."""

from http import HTTPStatus

import pytest
from django.urls import resolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from console.ui.core.links import (
    action_url,
    bulk_url,
    detail_url,
    edit_url,
    files_url,
    import_url,
    list_url,
    log_url,
    terminal_url,
)
from console.ui.details.panels.standard import tabs_of
from tests.leaks.view_urls import pages_of_all
from tests.leaks.world import ADMIN, KINDS, key_of, visible
from tests.queries.hostile_queries import encoded, failures, query, recorded_names
from tests.support.depth import number, some
from tests.support.responses import text_of
from tests.views.conftest import Utf8Client

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES = settings(
    max_examples=number(300, 20_000),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
HEADERS: tuple[dict[str, str], ...] = (
    *[{}] * 6,
    {"HX-Request": "true"},
    {"HX-Request": "true", "HX-Current-URL": "http://["},
    {"HX-Request": "true", "HX-Current-URL": "http://testserver//["},
    {"HX-Request": "true", "HX-Current-URL": "http://testserver/?" + "&" * 1500},
    {"Referer": "http://["},
    {"Referer": "http://testserver//["},
    {"Referer": "http://testserver/clusters/host/pods?list=" + "%26" * 1500},
    {"Referer": "http://testserver/clusters/host/pods?" + "&" * 1500},
    {"Accept": "application/json;q=x, */*;q=-1, ;"},
    {"Accept": "application/json"},
    {"Accept-Language": "zz-" * 2000},
    {"If-None-Match": 'W/"a", *, "'},
    {"Cookie": "theme=\x7f; quarterdeck-recent=%; quarterdeck-lang=../..; messages=x; a"},
    {"Sec-Fetch-Site": "\u00e9", "Sec-Fetch-Mode": "navigate"},
)


def urls() -> list[str]:
    """Return URLs of every view; in the gate two of each."""
    found = [*pages_of_all()]
    for kind in KINDS:
        segment, key = kind.segment, key_of(visible(kind))
        found += (
            list_url("host", segment),
            edit_url("host", segment, key),
            import_url("host", segment),
        )
        found += (detail_url("host", segment, key, tab.id) for tab in tabs_of(kind))
        found += (action_url(one.name, "host", segment, key) for one in kind.actions)
        found.append(bulk_url("delete", "host", segment))
        if segment == "pods":
            found += (make("host", segment, key) for make in (log_url, files_url, terminal_url))
    views: dict[str, dict[str, None]] = {}
    for url in found:
        path = url.partition("?")[0].partition("#")[0]
        views.setdefault(resolve(path).view_name, {})[path] = None
    return [path for name, paths in views.items() for path in some(name, paths, 2)]


#: The parameters that the view of a URL reads, collected by the first request.
_names: dict[str, list[str]] = {}


async def ask(url: str, headers: dict[str, str]) -> int:
    client = Utf8Client(raise_request_exception=False)
    response = await client.get(url, headers={"X-Cast": ADMIN, **headers})
    await text_of(response)
    return int(response.status_code)


async def names_of(url: str) -> list[str]:
    if url not in _names:
        with recorded_names() as names:
            await ask(url, {})
        _names[url] = names
    return _names[url]


@given(url=st.sampled_from(urls()), query=query, headers=st.sampled_from(HEADERS))
@EXAMPLES
async def test_no_query_makes_a_page_fail(
    caplog: pytest.LogCaptureFixture,
    url: str,
    query: str | list[tuple[int | str, str]],
    headers: dict[str, str],
) -> None:
    asked = f"{url}?{encoded(query, await names_of(url))}"
    status = await ask(asked, headers)
    assert status < 500 or status == HTTPStatus.SERVICE_UNAVAILABLE, asked
    assert failures(caplog) == [], asked


@pytest.mark.parametrize("url", ["/search", "/clusters/host/pods", "/access/who-may", "/dashboard"])
async def test_too_many_parameters_are_a_client_error_without_a_traceback(
    caplog: pytest.LogCaptureFixture, url: str
) -> None:
    many = "&".join(f"a{number}=1" for number in range(1500))
    statuses = {await ask(f"{url}?{many}", headers) for headers in ({}, {"HX-Request": "true"})}
    assert statuses <= {200, 400}
    assert failures(caplog) == []


async def test_too_many_files_are_a_client_error_without_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    part = '--b\r\nContent-Disposition: form-data; name="{0}"; filename="{0}"\r\n\r\nx\r\n'
    body = "".join(part.format(number) for number in range(200)) + "--b--\r\n"
    client = Utf8Client(raise_request_exception=False)
    answer = await client.generic(
        "POST",
        "/views",
        body.encode(),
        "multipart/form-data; boundary=b",
        headers={"X-Cast": ADMIN, "Origin": "http://testserver"},
    )
    assert answer.status_code == 400
    assert failures(caplog) == []
