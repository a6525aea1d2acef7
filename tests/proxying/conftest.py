from tests.logs.conftest import _site, made, world

__all__ = ["_site", "made", "world"]
