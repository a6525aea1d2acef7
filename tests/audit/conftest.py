"""Users and generic pages, for the tests of the audit pages."""

from tests.views.conftest import _site, client_as, pods, runtime

__all__ = ["_site", "client_as", "pods", "runtime"]
