"""A KubeSphere cluster shared by all tests of the package."""

from tests.accounts.kubesphere.world import world

__all__ = ["world"]
