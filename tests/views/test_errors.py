"""Error pages render in any state of the request and reveal no internals."""

import json
import re
from html import unescape
from typing import Any

import pytest
import yaml
from django.http import HttpRequest
from django.test import RequestFactory

from console.ui.lists import selection
from console.views import errors, lists
from rbac.process_clusters import unset_host_cluster
from tests.support.responses import text_of
from tests.views.conftest import ClientAs


def _bare(path: str = "/x") -> HttpRequest:
    """Return a request as left by early failing middleware."""
    return RequestFactory().get(path)


@pytest.mark.parametrize(
    ("view", "code"),
    [
        (errors.bad_request, 400),
        (errors.permission_denied, 403),
        (errors.csrf_failure, 403),
        (errors.page_not_found, 404),
        (errors.server_error, 500),
    ],
)
def test_error_pages_need_no_request_attributes(view: Any, code: int) -> None:
    unset_host_cluster()
    response = view(_bare())
    assert response.status_code == code
    assert b"<h1" in response.content
    assert view(_bare("/x?format=json"))["Content-Type"] == "application/json"


async def test_internal_error_shows_the_request_id_and_no_traceback(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> object:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(lists, "build_table", broken)
    response = await client_as("admin").get("/clusters/host/pods")
    html = await text_of(response)
    assert response.status_code == 500
    assert "request-1" in html
    assert "secret detail" not in html
    assert "Traceback" not in html


async def test_failing_authorizer_shows_no_data(
    client_as: ClientAs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> object:
        raise RuntimeError("no rights today")

    monkeypatch.setattr(selection, "readable", broken)
    response = await client_as("admin").get("/clusters/host/pods")
    assert response.status_code == 500
    assert "data-key" not in await text_of(response)


@pytest.mark.parametrize(
    "page", ["", "/actions/delete", "/log", "/files", "/terminal", "/terminal/starting"]
)
async def test_missing_object_is_named_with_spaces_between_scripts(
    client_as: ClientAs, page: str
) -> None:
    client = client_as("admin", **{"Accept-Language": "zh-hans"})
    response = await client.get(f"/clusters/host/projects/shop/pods/nobody{page}")
    html = await text_of(response)
    assert response.status_code == 404
    assert "未找到容器组 shop/nobody。" in html
    assert not re.search("[一-龥]shop/nobody|未找到pod", html)


async def test_too_many_parameters_return_400(client_as: ClientAs) -> None:
    query = "&".join(f"x{n}=1" for n in range(1500))
    for name in ("admin", ""):
        response = await client_as(name).get(f"/clusters/host/pods?{query}")
        assert response.status_code == 400


async def test_url_parameters_are_not_part_of_the_access_request(client_as: ClientAs) -> None:
    """An administrator applies the proposed manifest, but anyone can craft the URL."""
    more = "x)%0D%0A---%0Akind:%20Evil%0A%E2%80%A8%E2%80%AE%00"
    response = await client_as("charlie").get(f"/clusters/host/projects/shop/pods/{more}")
    assert response.status_code == 403
    html = await text_of(response)
    found = re.search(r'id="request-text"[^>]*>(.*?)</pre>', html, re.DOTALL)
    assert found is not None
    documents = list(yaml.safe_load_all(unescape(found[1])))
    assert [one["kind"] for one in documents] == ["Role", "RoleBinding"]
    # The namespace must not be displayed as a different one.
    assert not {"\u202e", "\u2028", "\0"} & set(html)
    # No project can have this name.
    response = await client_as("charlie").get(f"/clusters/host/projects/{more}/pods/web")
    assert response.status_code == 404
    assert not {"\u202e", "\u2028", "\0"} & set(await text_of(response))


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/no-such-page", 404),
        ("/clusters/host/no-such-kind", 404),
        ("/clusters/elsewhere/pods", 404),
        ("/clusters/host/projects/shop/pods/no-such-pod", 404),
        ("/clusters/host/pods?format=neither", 400),
    ],
)
async def test_signed_in_user_keeps_the_menu(client_as: ClientAs, path: str, code: int) -> None:
    response = await client_as("admin").get(path)
    html = await text_of(response)
    assert response.status_code == code
    assert re.search(r'<a class="rail-link"[^>]*href="/(clusters/host/pods|workspaces)[?"]', html)
    assert "request-1" in html
    assert 'href="/">Go to the home page</a>' in html


async def test_anonymous_user_sees_no_menu(client_as: ClientAs) -> None:
    response = await client_as("").get("/no-such-page")
    assert response.status_code == 404
    assert 'id="rail"' not in await text_of(response)


@pytest.mark.parametrize(
    ("path", "up"),
    [
        ("/clusters/host/projects/shop/pods/no-such-pod", "/clusters/host/pods?namespace=shop"),
        ("/clusters/host/nodes/no-such-one", "/clusters/host/nodes"),
        ("/clusters/host/no-such-kind", None),
        ("/no-such-page", None),
    ],
)
async def test_missing_object_page_links_to_its_list(
    client_as: ClientAs, path: str, up: str | None
) -> None:
    html = await text_of(await client_as("admin").get(path))
    found = re.search(r'<nav class="crumbs".*?href="([^"]+)"', html, re.DOTALL)
    assert (found and unescape(found[1])) == up


POD = "/clusters/host/projects/shop/pods/web-1"


@pytest.mark.parametrize(
    ("path", "accept"),
    [
        ("/clusters/host/pods", "application/json"),
        ("/clusters/host/pods?format=csv", "text/html"),
        (POD, "application/json"),
        (f"{POD}?format=yaml", "text/html"),
    ],
)
async def test_json_requests_get_json_errors(client_as: ClientAs, path: str, accept: str) -> None:
    for name, code in (("", 401), ("charlie", 403)):
        response = await client_as(name, Accept=accept).get(path)
        assert response.status_code == code
        status = json.loads(await text_of(response))
        assert (status["kind"], status["code"]) == ("Status", code)
