"""Every table of this application."""

from accounts.factors.models import RecoveryCode, SecondFactor
from accounts.federation.models import OneTime, ProviderSession
from accounts.named.models import NamedToken
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
    "NamedToken",
    "OneTime",
    "ProviderSession",
    "RecoveryCode",
    "RefreshToken",
    "SecondFactor",
    "SignIn",
    "SigningKey",
]
