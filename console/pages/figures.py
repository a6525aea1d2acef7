"""How many there are of each kind and how they are, each a link to exactly those."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise

from console.kube.gvr import GVR
from console.kube.status import Severity
from console.ui.counts import counts_of
from console.ui.selection import brought_up
from console.ui.sight import Sight
from console.ui.tally import TallyItem, make_tally
from console.ui.viewspec import ViewSpec


@dataclass(frozen=True, slots=True)
class Figure:
    """`failing_url` shows exactly the `failing`. `tally`: how many are in which state."""

    label: str | Promise
    count: int
    url: str
    failing: int
    failing_url: str
    tally: tuple[TallyItem, ...]


async def figures(sight: Sight, gvrs: Sequence[GVR]) -> tuple[Figure, ...]:
    found = []
    for seen in sight.all(gvrs):
        counts = counts_of(seen.kind, seen.informer)
        await brought_up(counts)
        numbers = counts.of(seen.readable, seen.wanted)
        spec = ViewSpec(seen.kind, seen.cluster.name).with_values("namespace", seen.wanted)
        found.append(
            Figure(
                seen.kind.title,
                sum(numbers.values()),
                spec.url,
                numbers[Severity.ERROR] if seen.kind.status_column else 0,
                spec.with_values("status", (Severity.ERROR.value,)).url,
                make_tally(spec, numbers),
            )
        )
    return tuple(found)
