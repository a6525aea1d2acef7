"""Every table of this application."""

from accounts.federation.models import OneTime, ProviderSession
from accounts.oauth.models import (
    AccessToken,
    AuthorizationCode,
    Grant,
    RefreshToken,
    SigningKey,
)
from accounts.protection.models import FailedAttempts, SignIn

__all__ = [
    "AccessToken",
    "AuthorizationCode",
    "FailedAttempts",
    "Grant",
    "OneTime",
    "ProviderSession",
    "RefreshToken",
    "SignIn",
    "SigningKey",
]
