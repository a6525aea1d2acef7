"""Cookie and session settings, derived from the console's base URL."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

#: A session expires this long after sign-in, and this long after its last use.
ABSOLUTE_LIFETIME = timedelta(hours=12)
IDLE_LIFETIME = timedelta(hours=2)


def cookie_settings(base_url: str) -> dict[str, Any]:
    """Return the Django settings for cookies.

    With HTTPS, cookie names start with `__Host-`. Browsers reject such cookies if they are not
    Secure, have a Domain, or were set by another host (RFC 6265bis, section 4.1.3.2). Browsers
    also reject these names over plain HTTP, so the demo's cookies have no prefix.
    """
    parts = urlsplit(base_url)
    secure = parts.scheme == "https"
    prefix = "__Host-" if secure else ""
    settings: dict[str, Any] = {
        "SESSION_ENGINE": "accounts.signin.session_rows",
        "SESSION_COOKIE_AGE": int(ABSOLUTE_LIFETIME.total_seconds()),
        "CSRF_COOKIE_HTTPONLY": True,
        # Behind a proxy that terminates TLS, requests arrive as plain HTTP.
        "CSRF_TRUSTED_ORIGINS": [f"{parts.scheme}://{parts.netloc}"],
    }
    names = {"SESSION": "quarterdeck", "CSRF": "quarterdeck-csrf", "LANGUAGE": "quarterdeck-lang"}
    for kind, name in names.items():
        settings[f"{kind}_COOKIE_NAME"] = prefix + name
        settings[f"{kind}_COOKIE_PATH"] = "/"
        settings[f"{kind}_COOKIE_SECURE"] = secure
        settings[f"{kind}_COOKIE_SAMESITE"] = "Lax"
    settings["SESSION_COOKIE_HTTPONLY"] = settings["LANGUAGE_COOKIE_HTTPONLY"] = True
    return settings
