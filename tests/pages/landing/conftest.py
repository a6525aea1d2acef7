"""The real URLconf and the real login."""

from tests.accounts.conftest import _site, browser, runtime, users

__all__ = ["_site", "browser", "runtime", "users"]
