"""The pages of one object, as a kind declares them."""

from dataclasses import dataclass

from django.utils.functional import Promise

from console.ui.panels import Panel


@dataclass(frozen=True, init=False)
class Tab:
    """`Tab("overview", _("Overview"), SummaryPanel(), …)`. `id` is one word, the last part of its URL;
    the first tab of a kind has none there."""

    id: str
    title: str | Promise
    panels: tuple[Panel, ...]

    def __init__(self, id: str, title: str | Promise, *panels: Panel) -> None:
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "panels", panels)
