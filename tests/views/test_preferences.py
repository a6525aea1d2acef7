"""Theme and language: cookies, set by forms that lead back."""

import pytest

from tests.views.conftest import ClientAs, SignedIn
from tests.views.test_lists import text_of


@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
async def test_a_theme_is_kept(client_as: ClientAs, theme: str) -> None:
    client = client_as("admin")
    response = await client.post("/settings/theme", {"theme": theme, "next": "/clusters/host/pods"})
    assert (response.status_code, response["Location"]) == (302, "/clusters/host/pods")
    cookie = response.cookies["theme"]
    assert (cookie.value, cookie["samesite"], cookie["httponly"]) == (theme, "Lax", True)
    assert f'data-theme="{theme}"' in await text_of(await client.get("/clusters/host/pods"))


async def test_a_language_is_kept(client_as: ClientAs) -> None:
    client = client_as("admin")
    await client.post("/i18n/language", {"language": "zh-hans", "next": "/"})
    assert 'lang="zh-Hans"' in await text_of(await client.get("/clusters/host/pods"))
    await client.post("/i18n/language", {"language": "en", "next": "/"})
    assert 'lang="en"' in await text_of(await client.get("/clusters/host/pods"))


@pytest.mark.parametrize(
    ("path", "field"), [("/settings/theme", "theme"), ("/i18n/language", "language")]
)
async def test_unknown_choices_are_refused(client_as: ClientAs, path: str, field: str) -> None:
    for value in ("", "bogus", "dark; HttpOnly", "x" * 1000):
        response = await client_as("admin").post(path, {field: value})
        assert response.status_code == 400
        assert not response.cookies.get("theme")
    assert (await client_as("admin").get(path)).status_code == 405


@pytest.mark.parametrize(
    "url",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "x", ""],
)
async def test_they_never_lead_elsewhere(client_as: ClientAs, url: str) -> None:
    response = await client_as("").post("/settings/theme", {"theme": "dark", "next": url})
    assert (response.status_code, response["Location"]) == (302, "/dashboard")


async def test_a_form_from_elsewhere_changes_nothing() -> None:
    response = await SignedIn({}, csrf=True).post("/settings/theme", {"theme": "dark"})
    assert response.status_code == 403
    assert "theme" not in response.cookies


async def test_a_strange_cookie_is_the_automatic_theme(client_as: ClientAs) -> None:
    client = client_as("admin", Cookie='theme="><script>')
    assert 'data-theme="auto"' in await text_of(await client.get("/clusters/host/pods"))
