"""What a token may be used for.

`api` is everything that the user may do in the console and in the cluster. The others let an
application know who the user is, as OpenID Connect has them.
"""

import re

from accounts.oauth.clients import AUTO, Client
from accounts.oauth.errors import OAuthError

OPENID, PROFILE, EMAIL, API = "openid", "profile", "email", "api"
ALL = (OPENID, PROFILE, EMAIL, API)
MAX_LENGTH = 512

_TOKENS = re.compile(r"[!#-\[\]-~]+(?: [!#-\[\]-~]+)*")


def granted(asked: str, client: Client) -> str:
    """Those of the scopes `asked` for that there are, or all where nothing is said.

    Applications of one's own get `api` without asking, as in KubeSphere, which has no such scope.
    Raises `OAuthError`.
    """
    if not asked:
        return " ".join(ALL)
    if len(asked) > MAX_LENGTH or not _TOKENS.fullmatch(asked):
        raise OAuthError("invalid_scope", "The scope cannot be read.")
    wanted = set(asked.split(" ")) | ({API} if client.consent == AUTO else set())
    found = " ".join(scope for scope in ALL if scope in wanted)
    if not found:
        raise OAuthError("invalid_scope", "There are the scopes openid, profile, email and api.")
    return found


def narrowed(asked: str, held: str) -> str:
    """For a refresh: `asked` must be a part of what is `held`. Raises `OAuthError`."""
    if not asked:
        return held
    wanted = set(asked.split(" ")) if len(asked) <= MAX_LENGTH else {""}
    if not wanted <= set(held.split(" ")):
        raise OAuthError("invalid_scope", "The scope is more than was granted.")
    return " ".join(scope for scope in ALL if scope in wanted)
