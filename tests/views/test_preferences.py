"""Theme and language: cookies set by forms that redirect back."""

import pytest

from tests.support.responses import text_of
from tests.views.conftest import ClientAs, SignedIn


@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
async def test_theme_is_stored(client_as: ClientAs, theme: str) -> None:
    client = client_as("admin")
    response = await client.post("/settings/theme", {"theme": theme, "next": "/clusters/host/pods"})
    assert (response.status_code, response["Location"]) == (302, "/clusters/host/pods")
    cookie = response.cookies["theme"]
    assert (cookie.value, cookie["samesite"], cookie["httponly"]) == (theme, "Lax", True)
    assert f'data-theme="{theme}"' in await text_of(await client.get("/clusters/host/pods"))


async def test_language_is_stored(client_as: ClientAs) -> None:
    client = client_as("admin")
    await client.post("/i18n/language", {"language": "zh-hans", "next": "/"})
    assert 'lang="zh-Hans"' in await text_of(await client.get("/clusters/host/pods"))
    await client.post("/i18n/language", {"language": "en", "next": "/"})
    assert 'lang="en"' in await text_of(await client.get("/clusters/host/pods"))


@pytest.mark.parametrize(
    ("path", "field"), [("/settings/theme", "theme"), ("/i18n/language", "language")]
)
async def test_unknown_values_are_refused(client_as: ClientAs, path: str, field: str) -> None:
    for value in ("", "bogus", "dark; HttpOnly", "x" * 1000):
        response = await client_as("admin").post(path, {field: value})
        assert response.status_code == 400
        assert not response.cookies.get("theme")
    assert (await client_as("admin").get(path)).status_code == 405


@pytest.mark.parametrize(
    "url",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "x", ""],
)
async def test_return_url_cannot_lead_to_another_site(client_as: ClientAs, url: str) -> None:
    response = await client_as("").post("/settings/theme", {"theme": "dark", "next": url})
    assert (response.status_code, response["Location"]) == (302, "/dashboard")


async def test_form_without_csrf_token_changes_nothing() -> None:
    response = await SignedIn({}, csrf=True).post("/settings/theme", {"theme": "dark"})
    assert response.status_code == 403
    assert "theme" not in response.cookies


async def test_invalid_theme_cookie_falls_back_to_auto(client_as: ClientAs) -> None:
    client = client_as("admin", Cookie='theme="><script>')
    assert 'data-theme="auto"' in await text_of(await client.get("/clusters/host/pods"))
