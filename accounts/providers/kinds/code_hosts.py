"""GitHub and GitLab, and self-managed installations of both with `endpoint`.

https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
https://docs.gitlab.com/ee/api/oauth2.html

GitHub's option `userIDKey: id` is specific to Quarterdeck. The default `login` is compatible with
KubeSphere, but a login can be released and taken by another user, while the numeric ID can't.
New installations should use `id`.
"""

from collections.abc import Mapping
from typing import ClassVar

from accounts.providers.base import Person, ProviderAttempt, ProviderRefused
from accounts.providers.oauth2 import OAuthClient, access_token, code_in, text_of
from accounts.providers.options import Fields, provider_kind
from accounts.providers.web import ProviderHttpClient


class _CodeHost:
    """OAuth 2.0 provider whose API returns the user. `name_key` is the field with the username."""

    scope: ClassVar[str]
    name_key: ClassVar[str]
    authorize: ClassVar[str]
    token: ClassVar[str]
    user: ClassVar[str]

    def __init__(self, fields: Fields) -> None:
        self._client = OAuthClient.read(fields, (self.scope,))
        self.callback = self._client.callback
        self._web = ProviderHttpClient(fields.tls())
        endpoint = fields.below("endpoint")
        self._authorize = endpoint.address("authURL", self.authorize)
        self._token = endpoint.address("tokenURL", self.token)
        self._user = endpoint.address("userInfoURL", self.user)
        self._key = "id"

    async def begin(self, attempt: ProviderAttempt) -> str:
        return self._client.location(self._authorize, attempt)

    async def finish(self, attempt: ProviderAttempt, answer: Mapping[str, str]) -> Person:
        tokens = await self._client.tokens(self._web, self._token, attempt, code_in(answer))
        found = await self._web.json_at(self._user, bearer=access_token(tokens))
        subject = text_of(found, self._key)
        if not subject:
            raise ProviderRefused("NoSubject", "the response contains no user ID")
        return Person(subject, text_of(found, self.name_key), text_of(found, "email"))


@provider_kind("GitHubIdentityProvider")
class GitHub(_CodeHost):
    scope, name_key = "user", "login"
    authorize = "https://github.com/login/oauth/authorize"
    token = "https://github.com/login/oauth/access_token"  # noqa: S105
    user = "https://api.github.com/user"

    def __init__(self, fields: Fields) -> None:
        super().__init__(fields)
        self._key = fields.text("userIDKey", "login")
        if self._key not in ("login", "id"):
            raise ValueError("userIDKey must be login or id")


@provider_kind("GitlabIdentityProvider")
class GitLab(_CodeHost):
    scope, name_key = "read_user", "username"
    authorize = "https://gitlab.com/oauth/authorize"
    token = "https://gitlab.com/oauth/token"  # noqa: S105
    user = "https://gitlab.com/api/v4/user"
