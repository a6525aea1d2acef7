"""Every table of this application."""

from accounts.federation.models import OneTime, ProviderSession
from accounts.oauth.models import (
    AccessToken,
    AuthorizationCode,
    Grant,
    RefreshToken,
    SigningKey,
)

__all__ = [
    "AccessToken",
    "AuthorizationCode",
    "Grant",
    "OneTime",
    "ProviderSession",
    "RefreshToken",
    "SigningKey",
]
