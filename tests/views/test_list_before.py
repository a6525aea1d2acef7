"""The back link of an object leads to the previous list with its filters."""

import re
from html import unescape

import pytest

from tests.views.conftest import ClientAs
from tests.views.test_lists import text_of

HOST = "http://testserver"
PODS, POD = "/clusters/host/pods", "/clusters/host/projects/shop/pods/web-1"
OWN = f"{PODS}?namespace=shop"


async def crumb(client_as: ClientAs, path: str, **headers: str) -> str:
    html = await text_of(await client_as("admin", **headers).get(path))
    found = re.search(r'href="([^"]*)" data-up', html)
    assert found is not None
    return unescape(found[1])


async def tabs(client_as: ClientAs, path: str, **headers: str) -> list[str]:
    html = await text_of(await client_as("admin", **headers).get(path))
    nav = re.search(r'<nav class="tabs".*?</nav>', html, re.S)
    assert nav is not None
    return [unescape(url) for url in re.findall(r'<a href="([^"]*)"', nav[0])]


@pytest.mark.parametrize(
    ("before", "up"),
    [
        (f"{PODS}?q=web&status=error", f"{PODS}?q=web&status=error"),
        (f"{PODS}?status=error&q=web&page=1", f"{PODS}?q=web&status=error"),
        (PODS, PODS),
        (OWN, OWN),
        (f"{PODS}?sort=nonsense", OWN),
        ("/clusters/host/nodes?q=a", OWN),
        ("/dashboard", OWN),
        ("//evil/clusters/host/pods", OWN),
    ],
)
async def test_back_link_leads_to_the_referring_list(
    client_as: ClientAs, before: str, up: str
) -> None:
    assert await crumb(client_as, POD, Referer=HOST + before) == up


async def test_list_of_another_site_is_ignored(client_as: ClientAs) -> None:
    for origin in ("http://evil.example", "http://testserver.evil.example", "https://testserver"):
        assert await crumb(client_as, POD, Referer=f"{origin}{PODS}?q=x") == OWN


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fragment", [{}, {"HX-Request": "true"}])
async def test_back_link_is_kept_across_tabs(client_as: ClientAs, fragment: dict[str, str]) -> None:
    came = f"{PODS}?q=web&status=error"
    first, *others = await tabs(client_as, POD, Referer=HOST + came)
    assert first == f"{POD}?list=q%3Dweb%26status%3Derror"
    for url in (first, *others):
        assert await crumb(client_as, url, Referer=HOST + POD, **fragment) == came
        assert await tabs(client_as, url, Referer=HOST + POD, **fragment) == [first, *others]


async def test_live_url_does_not_contain_the_back_link(client_as: ClientAs) -> None:
    html = await text_of(await client_as("admin").get(f"{POD}?list=q%3Dweb"))
    assert f'data-url="{POD}"' in html


async def test_tab_urls_are_plain_without_a_previous_list(client_as: ClientAs) -> None:
    assert all("list=" not in url for url in await tabs(client_as, POD))
    assert all("list=" not in url for url in await tabs(client_as, POD, Referer=HOST + OWN))


@pytest.mark.parametrize("given", ["sort=nonsense", "label=((", "%00", "q=a#b", "a" * 20000])
async def test_invalid_back_link_is_ignored(client_as: ClientAs, given: str) -> None:
    up = await crumb(client_as, f"{POD}?list={given}")
    assert up.startswith(f"{PODS}?") or up == PODS
    assert "nonsense" not in up
