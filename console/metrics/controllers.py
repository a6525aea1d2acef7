"""Metrics of the controllers in this process."""

from collections.abc import Callable, Iterator, Sequence

from prometheus_client.core import CounterMetricFamily as Counter
from prometheus_client.core import GaugeMetricFamily as Gauge
from prometheus_client.core import Metric

from console.kube.controller import ControllerStats, controller_stats

_Type = type[Counter] | type[Gauge]
_Value = Callable[[ControllerStats], float]

_FIGURES: Sequence[tuple[str, _Type, str, _Value]] = (
    ("reconciles_total", Counter, "Successful reconciliations.", lambda p: p.done),
    ("failures_total", Counter, "Failed reconciliations.", lambda p: p.failed),
    ("waiting", Gauge, "Objects waiting for reconciliation.", lambda p: p.waiting),
    (
        "retrying",
        Gauge,
        "Objects waiting for a retry after a failure.",
        lambda p: p.retrying,
    ),
)


def controller_families() -> Iterator[Metric]:
    found = sorted(controller_stats().items())
    for name, family_of, text, value_of in _FIGURES:
        family = family_of(f"quarterdeck_controller_{name}", text, labels=["controller"])
        for controller, figures in found:
            family.add_metric([controller], value_of(figures))
        yield family
