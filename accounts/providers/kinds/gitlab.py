"""GitLab, and self-managed GitLab with `endpoint`. https://docs.gitlab.com/ee/api/oauth2.html"""

from collections.abc import Mapping

from accounts.providers.base import Person, ProviderAttempt, ProviderRefused
from accounts.providers.oauth2 import OAuthClient, access_token, code_in, text_of
from accounts.providers.options import Fields, provider_kind
from accounts.providers.web import ProviderHttpClient


class GitLab:
    def __init__(self, fields: Fields) -> None:
        self._client = OAuthClient.read(fields, ("read_user",))
        self.callback = self._client.callback
        self._web = ProviderHttpClient(fields.tls())
        endpoint = fields.below("endpoint")
        self._authorize = endpoint.address("authURL", "https://gitlab.com/oauth/authorize")
        self._token = endpoint.address("tokenURL", "https://gitlab.com/oauth/token")
        self._user = endpoint.address("userInfoURL", "https://gitlab.com/api/v4/user")

    async def begin(self, attempt: ProviderAttempt) -> str:
        return self._client.location(self._authorize, attempt)

    async def finish(self, attempt: ProviderAttempt, answer: Mapping[str, str]) -> Person:
        tokens = await self._client.tokens(self._web, self._token, attempt, code_in(answer))
        found = await self._web.json_at(self._user, bearer=access_token(tokens))
        subject = text_of(found, "id")
        if not subject:
            raise ProviderRefused("NoSubject", "the response contains no user ID")
        return Person(subject, text_of(found, "username"), text_of(found, "email"))


@provider_kind("GitlabIdentityProvider")
def build(fields: Fields) -> GitLab:
    return GitLab(fields)
