"""Every table of this application."""

from accounts.oauth.models import (
    AccessToken,
    AuthorizationCode,
    Grant,
    RefreshToken,
    SigningKey,
)

__all__ = ["AccessToken", "AuthorizationCode", "Grant", "RefreshToken", "SigningKey"]
