"""The runtime of the host cluster, for host-only data: accounts, platform roles and workspaces.

Code that reads objects of any cluster uses the runtime from `access.cluster`. import-linter
forbids such code to import this module.
"""

from console.kube.runtime import Runtime

_current: Runtime | None = None


def set_runtime(runtime: Runtime | None) -> None:
    """Set the runtime of this process. Only for the composition root and tests."""
    global _current
    _current = runtime


def get_runtime() -> Runtime:
    if _current is None:
        raise RuntimeError("no runtime has been set; console.asgi starts one")
    return _current
