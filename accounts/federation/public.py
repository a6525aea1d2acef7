"""Views of the federation that need no login, by name."""

_NAMES = ("backchannel", "callback", "confirm", "landing")
FEDERATION_ROUTES = frozenset(f"accounts:federation:{name}" for name in _NAMES)
