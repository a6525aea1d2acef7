"""OAuth 2.0 authorization code flow (RFC 6749) with PKCE (RFC 7636), used by several providers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote

import aiohttp

from accounts.jose import challenge_of
from accounts.oauth.clients import with_query
from accounts.providers.base import ProviderAttempt, ProviderRefused, Unreachable
from accounts.providers.options import Fields
from accounts.providers.web import ProviderHttpClient

MAX_CODE = 4096


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """The console's client registration at a provider."""

    name: str
    secret: str = field(repr=False)
    callback: str
    scopes: tuple[str, ...]

    @classmethod
    def read(cls, fields: Fields, scopes: tuple[str, ...] = ()) -> Self:
        """Read the client from the configuration. `scopes` is the default. Raise ValueError."""
        return cls(
            name=fields.required("clientID"),
            secret=fields.required("clientSecret"),
            callback=fields.callback(),
            scopes=fields.texts("scopes") or scopes,
        )

    def location(self, endpoint: str, attempt: ProviderAttempt, **more: str) -> str:
        parameters = {
            "response_type": "code",
            "client_id": self.name,
            "redirect_uri": attempt.callback,
            "state": attempt.state,
            "code_challenge": challenge_of(attempt.verifier),
            "code_challenge_method": "S256",
            **more,
        }
        if self.scopes:
            parameters["scope"] = " ".join(self.scopes)
        return with_query(endpoint, parameters)

    async def tokens(
        self,
        web: ProviderHttpClient,
        endpoint: str,
        attempt: ProviderAttempt,
        code: str,
        *,
        basic: bool = False,
    ) -> dict[str, Any]:
        """Exchange a code for tokens.

        If `basic` is True, the secret is sent in a header instead of the form. Raise
        `ProviderError`.
        """
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.callback,
            "code_verifier": attempt.verifier,
        }
        credentials = ""
        if basic:
            # RFC 6749, section 2.3.1: both values are form-encoded first.
            credentials = aiohttp.encode_basic_auth(
                quote(self.name, safe=""), quote(self.secret, safe="")
            )
        else:
            form |= {"client_id": self.name, "client_secret": self.secret}
        answer = await web.post(endpoint, form, authorization=credentials)
        if answer.status >= 500:
            raise Unreachable(
                "BadStatus", f"the token endpoint's response status is {answer.status}"
            )
        found = answer.json()
        # GitHub sends errors with status 200.
        if answer.status != 200 or "error" in found:
            raise ProviderRefused("CodeRefused", "the provider rejected the code")
        return found


def code_in(answer: Mapping[str, str]) -> str:
    """Return the code in a callback. Raise `ProviderRefused` if it contains an error or no code."""
    if "error" in answer:
        raise ProviderRefused("ProviderRefused", "the provider returned an error")
    code = answer.get("code", "")
    if not code or len(code) > MAX_CODE:
        raise ProviderRefused("NoCode", "the callback contains no code")
    return code


def access_token(tokens: Mapping[str, Any]) -> str:
    """Return the access token. Raise `ProviderRefused` if it is missing."""
    token = text_of(tokens, "access_token")
    if not token:
        raise ProviderRefused("NoToken", "the response contains no access token")
    return token


def text_of(found: Mapping[str, Any], name: str) -> str:
    """Return a text or number as text, or "" for any other type."""
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value)
