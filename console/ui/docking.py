"""Pages that are shown in the dock (ADR 18)."""

from console.ui.text import visible

#: What `?frame=` says of them.
DOCK = "dock"


def tab_name(*parts: str) -> str:
    """What is on the tab, for instance the pod and the container."""
    return " · ".join(visible(one) for one in parts if one)
