"""Settings of every cookie that Quarterdeck sets, derived from the one address browsers use."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

#: A session ends this long after its sign-in, whatever happens, and this long after its last use.
ABSOLUTE_LIFETIME = timedelta(hours=12)
IDLE_LIFETIME = timedelta(hours=2)


def cookie_settings(base_url: str) -> dict[str, Any]:
    """Django settings by name.

    Behind TLS the names start with `__Host-`, with which browsers refuse a cookie that is not Secure,
    that has a Domain, or that another host set (RFC 6265bis, section 4.1.3.2). Browsers refuse such
    names over plain HTTP, so the demo's cookies go without.
    """
    parts = urlsplit(base_url)
    secure = parts.scheme == "https"
    prefix = "__Host-" if secure else ""
    settings: dict[str, Any] = {
        "SESSION_ENGINE": "accounts.signin.session_rows",
        "SESSION_COOKIE_AGE": int(ABSOLUTE_LIFETIME.total_seconds()),
        "CSRF_COOKIE_HTTPONLY": True,
        # Behind a proxy that ends TLS, requests arrive here as plain HTTP.
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
