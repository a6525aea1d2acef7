"""Runtime and users for the tests of generic pages."""

from tests.views.conftest import _site, client_as, pods, runtime

__all__ = ["_site", "client_as", "pods", "runtime"]
