"""The authorizer of this process: one for its runtime, so that what it worked out is kept."""

from console.kube.runtime import CurrentRuntime, get_runtime
from rbac.authorizer import Authorizer
from rbac.levels import Levels

_current: tuple[CurrentRuntime, Authorizer] | None = None


def get_authorizer() -> Authorizer:
    """Raises RuntimeError if the process has no runtime."""
    global _current
    runtime = get_runtime()
    current = _current
    if current is None or current[0] is not runtime:
        current = _current = (runtime, Authorizer(runtime))
    return current[1]


def get_levels() -> Levels:
    """Raises RuntimeError, as above."""
    return Levels(get_runtime(), get_authorizer())
