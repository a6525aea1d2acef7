"""The token service over preloaded users, with clients in a file and a movable clock."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import yaml
from django.test import AsyncClient
from pytest_django import Settings

from tests.accounts.conftest import ORIGIN, PASSWORD, Browser, OneHost
from tests.accounts.oauth.clients import (
    CALLBACK,
    CLIENTS,
    PKCE,
    SECRET,
    VERIFIER,
    basic,
    claims_of,
)
from tests.accounts.oauth.world import world

ME = "/kapis/iam.kubesphere.io/v1alpha2/users/alice"


class Config:
    """The configuration file. `write` replaces it atomically, as an operator would."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write()

    def write(self, clients: list[dict[str, Any]] | None = None, **authentication: Any) -> None:
        oauth = {"clients": CLIENTS if clients is None else clients}
        content = {"authentication": {"oauthOptions": oauth, **authentication}}
        fresh = self.path.with_suffix(".new")
        fresh.write_text(yaml.safe_dump(content))
        fresh.replace(self.path)


@pytest.fixture(autouse=True)
def config(settings: Settings, tmp_path: Path) -> Config:
    settings.AUTHENTICATION_CONFIG = str(tmp_path / "authentication.yaml")
    return Config(tmp_path / "authentication.yaml")


@dataclass
class Program:
    """An API client: no cookies, and CSRF checks are enforced."""

    name: str = "kubesphere"
    secret: str = SECRET
    http: AsyncClient = field(default_factory=lambda: OneHost(enforce_csrf_checks=True))

    async def post(self, path: str, fields: dict[str, str], **headers: str) -> Any:
        return await self.send(path, urlencode(fields), **headers)

    async def send(
        self, path: str, body: str | bytes, content_type: str = "", **headers: str
    ) -> Any:
        given = {"Host": "console.example.com"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        kind = content_type or "application/x-www-form-urlencoded"
        return await self.http.generic("POST", path, body, kind, headers=given)

    async def get(self, path: str, token: str | None = None, **headers: str) -> Any:
        given = {"Host": "console.example.com"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            given["Authorization"] = f"Bearer {token}"
        return await self.http.get(path, headers=given)

    async def token(self, grant: str, **fields: str) -> Any:
        credentials = {"client_id": self.name}
        if self.secret:
            credentials["client_secret"] = self.secret
        return await self.post("/oauth/token", {"grant_type": grant, **credentials, **fields})

    async def login(self, username: str = "alice", password: str = PASSWORD, **more: str) -> Any:
        return await self.token("password", username=username, password=password, **more)

    async def signed_in(self, username: str = "alice", **more: str) -> dict[str, Any]:
        answer = await self.login(username, **more)
        assert answer.status_code == 200, answer.content
        found: dict[str, Any] = answer.json()
        return found

    async def refresh(self, token: str, **more: str) -> Any:
        return await self.token("refresh_token", refresh_token=token, **more)

    async def works(self, token: str, path: str = ME) -> bool:
        answer = await self.get(path, token)
        assert answer.status_code in (200, 401), answer.content
        return bool(answer.status_code == 200)


@pytest.fixture
def program() -> Program:
    return Program()


@pytest.fixture
def cli() -> Program:
    return Program("cli", "")


@pytest.fixture
async def alice(browser: Browser) -> Browser:
    """A browser in which alice is signed in."""
    assert (await browser.login("alice")).status_code == 302
    return browser


def authorize_url(client: str = "kubesphere", redirect_uri: str = CALLBACK, **more: str) -> str:
    """Return the authorization URL. Parameters with an empty value are omitted."""
    fields = {"response_type": "code", "client_id": client, "redirect_uri": redirect_uri}
    fields |= {"state": "a b&c=d", **more}
    return "/oauth/authorize?" + urlencode({k: v for k, v in fields.items() if v})


def sent(answer: Any, to: str = CALLBACK) -> dict[str, str]:
    """Return the query parameters of a redirect to a client."""
    assert answer.status_code == 302, answer.content
    parts = urlsplit(answer["Location"])
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == to
    return dict(parse_qsl(parts.query, strict_parsing=True))


def error_of(answer: Any) -> tuple[int, str]:
    """Return status and error code of an error response (RFC 6749), and check that it is not
    cacheable.
    """
    assert answer["Content-Type"] == "application/json"
    assert "no-store" in answer["Cache-Control"]
    body = answer.json()
    assert set(body) == {"error", "error_description"}, body
    return answer.status_code, body["error"]


__all__ = [
    "CALLBACK",
    "CLIENTS",
    "ORIGIN",
    "PKCE",
    "SECRET",
    "VERIFIER",
    "basic",
    "claims_of",
    "world",
]
