"""The generic pages' small world and cast."""

from tests.views.conftest import _site, client_as, pods, runtime

__all__ = ["_site", "client_as", "pods", "runtime"]
