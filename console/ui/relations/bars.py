"""Progress bars in panels."""

from dataclasses import dataclass

from django.utils.functional import Promise


@dataclass(frozen=True, slots=True)
class Bar:
    """A progress bar.

    `share` is the percentage of the whole, or None if the whole is unknown. `level` is the
    color: `ok`, `warn` or `error`. It is never the only indication of a problem, because the
    numbers show it as well.
    """

    label: str | Promise
    used: str
    whole: str
    share: int | None
    level: str = "ok"

    @property
    def width(self) -> int:
        return min(100, self.share or 0)
