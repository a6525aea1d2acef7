"""A cluster of KubeSphere's of its own: hostile input may do to it whatever it can."""

from tests.accounts.kubesphere.world import world

__all__ = ["world"]
