"""Cookie settings that prevent other hosts from setting or reading cookies."""

import pytest

from accounts.signin.session_settings import cookie_settings

KINDS = ("SESSION", "CSRF", "LANGUAGE")


def test_all_cookies_use_the_host_prefix_with_tls() -> None:
    found = cookie_settings("https://console.example.com")
    for kind in KINDS:
        assert found[f"{kind}_COOKIE_NAME"].startswith("__Host-quarterdeck")
        assert found[f"{kind}_COOKIE_SECURE"] is True
        assert found[f"{kind}_COOKIE_PATH"] == "/"
        assert found[f"{kind}_COOKIE_HTTPONLY"] is True
        assert found[f"{kind}_COOKIE_SAMESITE"] == "Lax"
        assert f"{kind}_COOKIE_DOMAIN" not in found
    assert found["SESSION_COOKIE_NAME"] == "__Host-quarterdeck"
    assert found["CSRF_TRUSTED_ORIGINS"] == ["https://console.example.com"]


@pytest.mark.parametrize("address", ["http://127.0.0.1:8000", "http://[::1]:8000"])
def test_cookies_have_no_host_prefix_over_plain_http(address: str) -> None:
    found = cookie_settings(address)
    assert found["SESSION_COOKIE_NAME"] == "quarterdeck"
    for kind in KINDS:
        assert found[f"{kind}_COOKIE_SECURE"] is False
    assert found["CSRF_TRUSTED_ORIGINS"] == [address]
