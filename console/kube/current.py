"""The runtime of the host cluster, for what belongs to that alone: accounts, platform roles, workspaces.

Whoever reads what is of any cluster has its runtime from `access.cluster`; import-linter keeps them from
this module.
"""

from console.kube.runtime import Runtime

_current: Runtime | None = None


def set_runtime(runtime: Runtime | None) -> None:
    """Says which runtime this process has. The composition root's alone, and tests'."""
    global _current
    _current = runtime


def get_runtime() -> Runtime:
    if _current is None:
        raise RuntimeError("no runtime: console.asgi has not started one")
    return _current
