from tests.logs.conftest import _site, made, release, world

__all__ = ["_site", "made", "release", "world"]
