"""URLs with a trailing slash redirect to the URL without it."""

import pytest

from tests.accounts.conftest import Browser


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("/clusters/host/pods/", "/clusters/host/pods"),
        ("/clusters/host/pods//?q=a%26b&page=2", "/clusters/host/pods?q=a%26b&page=2"),
        ("/login/", "/login"),
        ("/clusters/host/projects/shop/", "/clusters/host/projects/shop"),
    ],
)
async def test_a_trailing_slash_redirects_to_the_page(browser: Browser, path: str, to: str) -> None:
    answer = await browser.get(path)
    assert (answer.status_code, answer["Location"]) == (301, to)


@pytest.mark.parametrize("path", ["/nowhere/", "//login/", "/\\login/", "/%0alogin/"])
async def test_other_urls_are_not_redirected(browser: Browser, path: str) -> None:
    answer = await browser.get(path)
    assert answer.status_code != 301
    assert "Location" not in answer or answer["Location"].startswith("/login?")


async def test_posts_are_not_redirected(browser: Browser) -> None:
    answer = await browser.post("/login/", {"username": "alice"})
    assert answer.status_code != 301
