"""Prometheus' text format, version 0.0.4.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = dict[str, str]
#: Upper bounds with the number of observations that were at most so large, the last one infinite.
Buckets = Iterable[tuple[float, int]]

_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


@dataclass(frozen=True, slots=True)
class Family:
    """One metric with all of its samples. `kind`: counter, gauge or histogram."""

    name: str
    kind: str
    help: str
    samples: list[tuple[str, Labels, float]] = field(default_factory=list)

    def add(self, value: float, **labels: str) -> "Family":
        self.samples.append(("", labels, value))
        return self

    def add_histogram(self, buckets: Buckets, total: float, **labels: str) -> "Family":
        """`total`: the sum of all that was observed."""
        count = 0
        for bound, count in buckets:
            self.samples.append(("_bucket", {**labels, "le": _number(bound)}, count))
        self.samples.extend([("_sum", labels, total), ("_count", labels, count)])
        return self


def expose(families: Iterable[Family]) -> str:
    return "".join(f"{line}\n" for family in families for line in _lines(family))


def _lines(family: Family) -> Iterator[str]:
    if not family.samples:
        return
    yield f"# HELP {family.name} {family.help}"
    yield f"# TYPE {family.name} {family.kind}"
    for suffix, labels, value in family.samples:
        pairs = ",".join(f'{name}="{text.translate(_ESCAPES)}"' for name, text in labels.items())
        yield f"{family.name}{suffix}{'{' + pairs + '}' if pairs else ''} {_number(value)}"


def _number(value: float) -> str:
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(value)
