"""The controllers of this process in numbers."""

from collections.abc import Callable, Iterator, Sequence

from console.kube.controller import Progress, progress
from console.metrics.exposition import Family

_Value = Callable[[Progress], float]

_FIGURES: Sequence[tuple[str, str, str, _Value]] = (
    ("reconciles_total", "counter", "Looks at an object that went well.", lambda p: p.done),
    ("failures_total", "counter", "Looks at an object that failed.", lambda p: p.failed),
    ("waiting", "gauge", "Objects to look at.", lambda p: p.waiting),
    (
        "retrying",
        "gauge",
        "Objects whose last look failed, tried again later.",
        lambda p: p.retrying,
    ),
)


def controller_families() -> Iterator[Family]:
    found = sorted(progress().items())
    for name, kind, text, value_of in _FIGURES:
        family = Family(f"quarterdeck_controller_{name}", kind, text)
        for controller, figures in found:
            family.add(value_of(figures), controller=controller)
        yield family
