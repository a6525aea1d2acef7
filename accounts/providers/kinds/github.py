"""GitHub, and GitHub Enterprise with `endpoint`.

https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps

The option `userIDKey: id` is specific to Quarterdeck. The default `login` is compatible with
KubeSphere, but a login can be released and taken by another user, while the numeric ID can't.
New installations should use `id`.
"""

from collections.abc import Mapping

from accounts.providers.base import Person, ProviderAttempt, ProviderRefused
from accounts.providers.oauth2 import OAuthClient, access_token, code_in, text_of
from accounts.providers.options import Fields, provider_kind
from accounts.providers.web import ProviderHttpClient


class GitHub:
    def __init__(self, fields: Fields) -> None:
        self._client = OAuthClient.read(fields, ("user",))
        self.callback = self._client.callback
        self._web = ProviderHttpClient(fields.tls())
        endpoint = fields.below("endpoint")
        self._authorize = endpoint.address("authURL", "https://github.com/login/oauth/authorize")
        self._token = endpoint.address("tokenURL", "https://github.com/login/oauth/access_token")
        self._user = endpoint.address("userInfoURL", "https://api.github.com/user")
        self._key = fields.text("userIDKey", "login")
        if self._key not in ("login", "id"):
            raise ValueError("userIDKey must be login or id")

    async def begin(self, attempt: ProviderAttempt) -> str:
        return self._client.location(self._authorize, attempt)

    async def finish(self, attempt: ProviderAttempt, answer: Mapping[str, str]) -> Person:
        tokens = await self._client.tokens(self._web, self._token, attempt, code_in(answer))
        found = await self._web.json_at(self._user, bearer=access_token(tokens))
        subject, login = text_of(found, self._key), text_of(found, "login")
        if not subject:
            raise ProviderRefused("NoSubject", "the response contains no user ID")
        return Person(subject, login, text_of(found, "email"))


@provider_kind("GitHubIdentityProvider")
def build(fields: Fields) -> GitHub:
    return GitHub(fields)
