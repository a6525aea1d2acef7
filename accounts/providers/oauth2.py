"""The authorization code flow of OAuth 2.0 (RFC 6749) with PKCE (RFC 7636), as providers build on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote, urlencode

import aiohttp

from accounts.jose import challenge_of
from accounts.providers.base import ProviderAttempt, Refused, Unreachable
from accounts.providers.options import Fields
from accounts.providers.web import Web

MAX_CODE = 4096


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """This console as a client of a provider."""

    name: str
    secret: str = field(repr=False)
    callback: str
    scopes: tuple[str, ...]

    @classmethod
    def read(cls, fields: Fields, scopes: tuple[str, ...] = ()) -> Self:
        """`scopes`: where none are said. Raises ValueError."""
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
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"

    async def tokens(
        self, web: Web, endpoint: str, attempt: ProviderAttempt, code: str, *, basic: bool = False
    ) -> dict[str, Any]:
        """What the code is exchanged for. `basic`: the secret goes into a header, not into the form.
        Raises `ProviderError`."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.callback,
            "code_verifier": attempt.verifier,
        }
        credentials = ""
        if basic:
            # RFC 6749, section 2.3.1: both are encoded as a form's values first.
            credentials = aiohttp.encode_basic_auth(
                quote(self.name, safe=""), quote(self.secret, safe="")
            )
        else:
            form |= {"client_id": self.name, "client_secret": self.secret}
        answer = await web.post(endpoint, form, authorization=credentials)
        if answer.status >= 500:
            raise Unreachable("BadStatus", f"the token endpoint answers {answer.status}")
        found = answer.json()
        # GitHub's refusals have the status 200.
        if answer.status != 200 or "error" in found:
            raise Refused("CodeRefused", "the provider refused the code")
        return found


def code_in(answer: Mapping[str, str]) -> str:
    """Raises `Refused` for an answer that says no or nothing."""
    if "error" in answer:
        raise Refused("ProviderRefused", "the provider said no")
    code = answer.get("code", "")
    if not code or len(code) > MAX_CODE:
        raise Refused("NoCode", "there is no code in the answer")
    return code


def access_token(tokens: Mapping[str, Any]) -> str:
    """Raises `Refused`."""
    return text_of(tokens, "access_token") or _no_token()


def text_of(found: Mapping[str, Any], name: str) -> str:
    """A text, or a number as one; "" for anything else."""
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value)


def _no_token() -> str:
    raise Refused("NoToken", "the provider gave no access token")
