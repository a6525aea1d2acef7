"""Both clusters, and identity providers in a file."""

from tests.accounts.clusters import running, world
from tests.accounts.federation.conftest import providers, serve

__all__ = ["providers", "running", "serve", "world"]
