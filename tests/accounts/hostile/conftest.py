"""A separate KubeSphere cluster, which hostile input may damage."""

from tests.accounts.kubesphere.world import world

__all__ = ["world"]
