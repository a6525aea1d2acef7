"""The kinds of identity providers, by the name that the configuration calls them."""

from collections.abc import Callable

from accounts.providers.base import Provider
from accounts.providers.fields import Fields

Build = Callable[[Fields], Provider]

_kinds: dict[str, Build] = {}


def provider_kind(name: str) -> Callable[[Build], Build]:
    """Registers what makes a provider of its fields, and raises ValueError for fields that are wrong."""

    def register(build: Build) -> Build:
        if name in _kinds:
            raise ValueError(f"{name} is registered twice")
        _kinds[name] = build
        return build

    return register


def build(kind: str, fields: Fields) -> Provider:
    """Raises ValueError."""
    if kind not in _kinds:
        raise ValueError(f"the type is one of {', '.join(sorted(_kinds))}")
    return _kinds[kind](fields)
