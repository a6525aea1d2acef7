"""Tabs of a kind's detail page."""

from dataclasses import dataclass

from django.utils.functional import Promise

from console.ui.panels import Panel


@dataclass(frozen=True, init=False)
class Tab:
    """A tab, declared as `Tab("overview", _("Overview"), SummaryPanel(), …)`.

    `id` is a single word and the last segment of the tab's URL. The URL of a kind's first tab
    omits it.
    """

    id: str
    title: str | Promise
    panels: tuple[Panel, ...]

    def __init__(self, id: str, title: str | Promise, *panels: Panel) -> None:
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "panels", panels)
