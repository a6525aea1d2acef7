"""Use the real URLconf and the real sign-in."""

from tests.accounts.conftest import _site, browser, runtime, users

__all__ = ["_site", "browser", "runtime", "users"]
