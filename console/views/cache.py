"""Cache page for platform administrators: number of objects, freshness and event rate of each
cached kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.kube.gvr import GVR
from console.kube.stats import KEPT, STEP, EventRates, InformerStats, stats_of
from console.kube.status import Severity
from console.live.counters import counters
from console.metrics.families import resident_bytes
from console.ui.core.access import may_list_everything
from console.ui.core.amounts import bytes_text
from console.ui.core.clusters import Cluster
from console.ui.core.links import list_url
from console.ui.core.menu import MenuEntry
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.core.words import translate_message
from console.ui.fragments.empty_states import EmptyState
from console.ui.fragments.placeholders import age_text
from console.ui.usage.gauges import ChartLine, ChartSize, chart_line
from console.views.denial import withheld_page
from console.views.guard import access_of
from console.views.page import page

#: Sizes of the plots, in SVG units.
SPARK: ChartSize = {"points": KEPT, "width": 119, "height": 20}
PLOT: ChartSize = {"points": KEPT, "width": 595, "height": 120}
#: Smallest displayed event rate in events per second; lower rates are shown as less than this.
MIN_RATE = 0.1
#: Samples per minute.
SAMPLES_PER_MINUTE = int(60 / STEP)


@dataclass(frozen=True, slots=True)
class CacheRow:
    """Cached kind. `url` is "" if the kind has no list page. `since` is set if the cache is stale."""

    gvr: GVR
    url: str
    severity: Severity
    word: str
    since: datetime | None
    reason: str
    objects: int
    memory: str
    rate: float
    rate_text: str
    spark: ChartLine
    lag: str
    relists: int
    restarts: int
    listeners: int


@dataclass(frozen=True, slots=True)
class MinuteRate:
    """Average events per second in the minute that ended `ago` minutes ago."""

    ago: int
    rate: str


@dataclass(frozen=True, slots=True)
class CacheTotal:
    label: str | Promise
    value: str
    hint: str | Promise = ""


@page(
    "GET", menu=MenuEntry(("cluster",), 150, gettext_lazy("Cache"), "history", may_list_everything)
)
async def cache_page(request: ConsoleRequest, cluster: Cluster) -> HttpResponse:
    """GET /clusters/{cluster}/cache"""
    if not may_list_everything(access_of(request)):
        text = _(
            "You don't have permission to view the cache. Viewing the cache requires permission "
            "to list all resources in the cluster."
        )
        return withheld_page(request, text, _("Cache"))
    return render(request, "console/cache.html", _context(cluster))


def _context(cluster: Cluster) -> dict[str, object]:
    runtime = cluster.runtime
    now = datetime.now(UTC)
    figures = stats_of(runtime.informers(), answered=runtime.last_response, now=now)
    history = runtime.history
    rows = [_row(cluster, item, history, now) for item in figures]
    rows.sort(key=lambda row: (row.severity.rank, -row.rate, row.gvr))
    rates = history.rates()
    return {
        "rows": rows,
        "totals": _totals(figures, history),
        "plot": chart_line(rates, **PLOT),
        "top": rate_text(chart_line(rates, **PLOT).top),
        "minutes": _minutes(rates),
        "rate": rate_text(history.rate()),
        "peak": rate_text(max(rates, default=0.0)),
        "state": None if rows else _nothing(),
    }


def _row(cluster: Cluster, item: InformerStats, history: EventRates, now: datetime) -> CacheRow:
    severity, word = _state(item)
    kind = cluster.kinds.of(item.gvr)
    return CacheRow(
        gvr=item.gvr,
        url=list_url(cluster.name, kind.segment) if kind is not None else "",
        severity=severity,
        word=word,
        since=item.freshness.stale_since if item.freshness.synced else None,
        reason=_reason(item),
        objects=item.objects,
        memory=bytes_text(Decimal(item.bytes)),
        rate=history.rate(item.gvr),
        rate_text=rate_text(history.rate(item.gvr)),
        spark=chart_line(history.rates(item.gvr), **SPARK),
        lag="—" if item.lag is None else age_text(now - timedelta(seconds=item.lag), now),
        relists=item.relists,
        restarts=item.restarts,
        listeners=item.listeners,
    )


def _state(item: InformerStats) -> tuple[Severity, str]:
    freshness = item.freshness
    if not freshness.synced:
        if freshness.problem:
            return Severity.ERROR, _("List failed")
        return Severity.PROGRESS, _("Loading")
    if freshness.stale_since is not None:
        return Severity.WARN, _("Stale since")
    if item.undecodable or item.listener_failures:
        return Severity.WARN, _("Live")
    return Severity.OK, _("Live")


def _reason(item: InformerStats) -> str:
    """Return why the cache is not live, and errors of the console itself."""
    parts = [escape_invisible(translate_message(item.freshness.problem))]
    if item.undecodable:
        text = ngettext("%(n)s object unreadable", "%(n)s objects unreadable", item.undecodable)
        parts.append(text % {"n": item.undecodable})
    if item.listener_failures:
        text = ngettext("%(n)s listener failed", "%(n)s listeners failed", item.listener_failures)
        parts.append(text % {"n": item.listener_failures})
    return " · ".join(part for part in parts if part)


def _totals(figures: Sequence[InformerStats], history: EventRates) -> list[CacheTotal]:
    live = sum(item.freshness.synced and item.freshness.stale_since is None for item in figures)
    memory = resident_bytes()
    return [
        CacheTotal(
            _("Kinds"), f"{len(figures):,}", _("%(n)s not live") % {"n": len(figures) - live}
        ),
        CacheTotal(_("Objects"), f"{sum(item.objects for item in figures):,}"),
        CacheTotal(
            _("Memory"),
            bytes_text(Decimal(sum(item.bytes for item in figures))),
            _("of %(all)s in this process") % {"all": bytes_text(Decimal(memory))}
            if memory
            else "",
        ),
        CacheTotal(_("Events per second"), rate_text(history.rate()), _("in the last minute")),
        CacheTotal(_("Live pages"), f"{counters.sockets:,}"),
    ]


def _minutes(rates: Sequence[float]) -> list[MinuteRate]:
    """Return the rate of each minute, latest first. The first minute may be incomplete."""
    groups = [
        rates[max(0, end - SAMPLES_PER_MINUTE) : end]
        for end in range(len(rates), 0, -SAMPLES_PER_MINUTE)
    ]
    return [MinuteRate(ago, rate_text(sum(group) / len(group))) for ago, group in enumerate(groups)]


def rate_text(rate: float) -> str:
    """Format a rate with one decimal below ten and none above. Small rates are shown as less than
    `MIN_RATE`, not as 0.
    """
    if 0 < rate < MIN_RATE:
        return f"<{MIN_RATE}"
    return f"{rate:.1f}".removesuffix(".0") if rate < 10 else f"{rate:,.0f}"


def _nothing() -> EmptyState:
    return EmptyState(
        "first-use",
        _("The cache is empty"),
        _("The console caches a resource type when a user opens the list for the first time."),
    )
