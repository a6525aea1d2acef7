"""Bars in panels: how much of a whole."""

from dataclasses import dataclass

from django.utils.functional import Promise


@dataclass(frozen=True, slots=True)
class Bar:
    """`share` of the whole, in percent; None where there is no whole. `level`, one of `ok`, `warn` and
    `error`, is its colour: nothing is said by it that the figures do not say."""

    label: str | Promise
    used: str
    whole: str
    share: int | None
    level: str = "ok"

    @property
    def width(self) -> int:
        return min(100, self.share or 0)
