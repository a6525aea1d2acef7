"""GitHub, and GitHub Enterprise by `endpoint`.

https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps

Ours: `userIDKey: id`. KubeSphere knows people by their login, which is the default. A login can be given
up and taken by somebody else, a number cannot: new installations should use it.
"""

from collections.abc import Mapping

from accounts.providers.base import Person, ProviderAttempt, Refused
from accounts.providers.oauth2 import OAuthClient, access_token, code_in, text_of
from accounts.providers.options import Fields, provider_kind
from accounts.providers.web import Web


class GitHub:
    def __init__(self, fields: Fields) -> None:
        self._client = OAuthClient.read(fields, ("user",))
        self.callback = self._client.callback
        self._web = Web(fields.tls())
        endpoint = fields.below("endpoint")
        self._authorize = endpoint.address("authURL", "https://github.com/login/oauth/authorize")
        self._token = endpoint.address("tokenURL", "https://github.com/login/oauth/access_token")
        self._user = endpoint.address("userInfoURL", "https://api.github.com/user")
        self._key = fields.text("userIDKey", "login")
        if self._key not in ("login", "id"):
            raise ValueError("userIDKey is login or id")

    async def begin(self, attempt: ProviderAttempt) -> str:
        return self._client.location(self._authorize, attempt)

    async def finish(self, attempt: ProviderAttempt, answer: Mapping[str, str]) -> Person:
        tokens = await self._client.tokens(self._web, self._token, attempt, code_in(answer))
        found = await self._web.json_at(self._user, bearer=access_token(tokens))
        subject, login = text_of(found, self._key), text_of(found, "login")
        if not subject:
            raise Refused("NoSubject", "the answer names nobody")
        return Person(subject, login, text_of(found, "email"))


@provider_kind("GitHubIdentityProvider")
def build(fields: Fields) -> GitHub:
    return GitHub(fields)
