"""One such cluster for all of these tests."""

from tests.accounts.kubesphere.world import world

__all__ = ["world"]
