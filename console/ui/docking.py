"""Pages that are shown in the dock (ADR 18)."""

from console.ui.text import escape_invisible

#: Value of the `?frame=` parameter for pages in the dock.
DOCK = "dock"


def tab_name(*parts: str) -> str:
    """Return the title of a dock tab, such as the pod and the container."""
    return " · ".join(escape_invisible(one) for one in parts if one)
