"""The options of the command palette and their permissions."""

import re
from typing import Any
from urllib.parse import quote

import pytest

from console.ui.lists.columns import LinkTarget, target_url
from tests.support.responses import text_of
from tests.views.conftest import ClientAs

Options = list[tuple[str, str]]


async def options(
    client_as: ClientAs, text: str, who: str = "admin", **headers: str
) -> dict[str, Options]:
    """Return (text, URL) of each option by group label."""
    response = await client_as(who, **headers).get(f"/palette?q={quote(text)}")
    assert response.status_code == 200
    html = await text_of(response)
    found: dict[str, Options] = {}
    for part in html.split('role="group" aria-label="')[1:]:
        label = part.partition('"')[0]
        links = re.findall(
            r'role="option".*?(?:href|formaction)="([^"]*)".*?</(?:a|button)>', part, re.S
        )
        texts = re.findall(r'role="option"(.*?)</(?:a|button)>', part, re.S)
        plain = [
            " ".join(re.sub(r"<[^>]*>", " ", text.partition(">")[2]).split()) for text in texts
        ]
        found[label] = list(zip(plain, [link.replace("&amp;", "&") for link in links], strict=True))
    return found


LIST = "/clusters/host"
CART = target_url("host", LinkTarget("pods", "shop", "cart-1"))


async def test_empty_query_offers_all_lists_and_commands(client_as: ClientAs) -> None:
    found = await options(client_as, "")
    assert found["Lists"][0] == ("Pods", f"{LIST}/pods")
    assert [text for text, _url in found["Commands"]] == [
        "Create from YAML host",
        "Theme: light", "Theme: dark", "Theme: system", "English", "中文", "Sign out",
    ]  # fmt: skip
    assert set(found) == {"Lists", "Commands"}


@pytest.mark.parametrize(
    ("text", "group", "first"),
    [
        ("po", "Lists", ("Pods", f"{LIST}/pods")),
        ("deploy", "Lists", ("Deployments", f"{LIST}/deployments")),
        ("容器组", "Lists", ("Pods", f"{LIST}/pods")),
        ("po web", "Lists", ("Pods web", f"{LIST}/pods?q=web")),
        ("po shop", "Lists", ("Pods shop", f"{LIST}/pods?namespace=shop")),
        ("po shop /web", "Lists", ("Pods web · shop", f"{LIST}/pods?q=web&namespace=shop")),
        ("po label=app=web", "Lists", ("Pods app=web", f"{LIST}/pods?label=app%3Dweb")),
        ("shop", "Projects", ("shop", f"{LIST}/projects/shop")),
        ("team", "Projects", ("team-a", f"{LIST}/projects/team-a")),
        ("cart", "Pods", ("cart-1 shop", CART)),
        ("identity", "Pages", ("Identity providers Platform", "/access/providers")),
        ("企业空间", "Pages", ("Workspaces Platform", "/workspaces")),
        ("more host", "Pages", ("More resources host", f"{LIST}/resources")),
        ("create pod", "Create", ("Create pod", "/clusters/host/import?kind=pods")),
        ("dark", "Commands", ("Theme: dark", "/settings/theme")),
        ("sign out", "Commands", ("Sign out", "/logout")),
        ("log out", "Commands", ("Sign out", "/logout")),
        ("create", "Commands", ("Create from YAML host", "/clusters/host/import")),
        ("zz", "Search", ("Search all resources for “zz”", "/search?q=zz")),
    ],
)
async def test_best_match_is_offered_first(
    client_as: ClientAs, text: str, group: str, first: tuple[str, str]
) -> None:
    assert (await options(client_as, text))[group][0] == first


async def test_leading_slash_searches_text_only(client_as: ClientAs) -> None:
    assert set(await options(client_as, "/shop")) == {"Search"}
    assert set(await options(client_as, "/web")) == {"Pods", "Search"}


async def test_last_option_of_a_kind_links_to_the_full_list(client_as: ClientAs) -> None:
    found = await options(client_as, "-1")
    assert found["Pods"][-1] == ("All 4", f"{LIST}/pods?q=-1")


async def test_only_objects_the_viewer_may_see_are_offered(client_as: ClientAs) -> None:
    nobody = await options(client_as, "", "charlie")
    assert set(nobody) == {"Commands"}
    assert set(await options(client_as, "shop", "charlie")) == {"Search"}
    alice = await options(client_as, "team", "alice")
    assert [text for text, _url in alice["Projects"]] == ["team-a"]
    assert set(await options(client_as, "po shop", "alice")) == {"Lists", "Search"}


@pytest.mark.parametrize(("who", "offered"), [("bob", True), ("alice", False)])
async def test_platform_pages_are_offered_only_with_platform_permissions(
    client_as: ClientAs, who: str, offered: bool
) -> None:
    pages = (await options(client_as, "workspaces", who)).get("Pages", [])
    assert (("Workspaces Platform", "/workspaces") in pages) is offered


@pytest.mark.parametrize(("who", "offered"), [("alice", True), ("bob", False), ("charlie", False)])
async def test_create_commands_require_permission(
    client_as: ClientAs, who: str, offered: bool
) -> None:
    found = await options(client_as, "create", who)
    assert ("Commands" in found) is offered


async def test_palette_requires_sign_in(client_as: ClientAs) -> None:
    assert (await client_as("", **{"HX-Request": "true"}).get("/palette?q=a")).status_code == 401
    assert (await client_as("").get("/palette")).status_code == 302


@pytest.mark.parametrize("text", ["%00", "label=((", "x" * 4000, "%FF"])
async def test_malformed_query_does_not_fail(client_as: ClientAs, text: str) -> None:
    response: Any = await client_as("admin").get(f"/palette?q={text}")
    assert response.status_code in (200, 400)


async def test_markup_is_escaped(client_as: ClientAs) -> None:
    html = await text_of(await client_as("admin").get('/palette?q=%3Cimg%20src=x%3E"'))
    assert "<img" not in html


async def test_every_page_contains_the_palette(client_as: ClientAs) -> None:
    html = await text_of(await client_as("admin").get("/clusters/host/pods"))
    assert 'href="/search" data-palette' in html
    assert 'id="palette-options" role="listbox"' in html
    assert 'data-url="/palette"' in html
