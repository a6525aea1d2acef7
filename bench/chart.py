"""The results as bars, as an SVG that is readable on light and on dark pages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from bench.result import Report, Result, number

_WIDTH, _LABELS, _VALUES, _MARGIN = 680, 210, 90, 16
_BAR, _GAP, _TITLE = 16, 7, 34

_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600 } .note { font-size: 11px; fill: #59636e }
.ours { fill: #1a7f5a } .other { fill: #9aa4ae }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .note { fill: #9198a1 } .ours { fill: #3fb98a } .other { fill: #59636e }
}
"""


@dataclass(frozen=True, slots=True)
class _Panel:
    """Bars that share a scale: (result name, label, whether it is ours). Values are divided."""

    title: str
    bars: Sequence[tuple[str, str, bool]]
    unit: str
    divisor: float = 1.0


_PANELS = (
    _Panel(
        "Seconds until all pods are there",
        (
            ("sync_seconds", "Quarterdeck", True),
            ("sync_seconds_client_go", "client-go", False),
            ("sync_seconds_client_go_json", "client-go, JSON", False),
            ("sync_seconds_official_informer", "kubernetes.informer", False),
        ),
        "s",
    ),
    _Panel(
        "Memory for each pod",
        (
            ("bytes_per_object", "Quarterdeck", True),
            ("bytes_per_object_client_go", "client-go", False),
            ("process_bytes_per_object_official_informer", "kubernetes.informer", False),
        ),
        "KB",
        1000,
    ),
    _Panel(
        "From a change to the cache",
        (("lag_p50_ms", "median", True), ("lag_p99_ms", "99th percentile", True)),
        "ms",
    ),
    _Panel(
        "A page of the list, while pods change",
        (
            ("page_p50_ms", "median", True),
            ("page_p95_ms", "95th percentile", True),
            ("page_p99_ms", "99th percentile", True),
        ),
        "ms",
    ),
    _Panel(
        "From a change to the browser",
        (("frame_p50_ms", "median", True), ("frame_p95_ms", "95th percentile", True)),
        "ms",
    ),
)


def svg(report: Report) -> str:
    """Panels without a result are left out."""
    parts: list[str] = []
    y = _MARGIN
    for panel in _PANELS:
        bars = list(_bars(panel, report.results))
        if bars:
            parts += _panel(panel, bars, y)
            y += _TITLE + len(bars) * (_BAR + _GAP) + _GAP
    y += _MARGIN
    note = f"{report.machine}, shared with the control plane; {report.commit}"
    parts.append(f'<text class="note" x="{_MARGIN}" y="{y}">{escape(note)}</text>')
    size = f'viewBox="0 0 {_WIDTH} {y + _MARGIN}" width="{_WIDTH}" height="{y + _MARGIN}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}><style>{_STYLE}</style>'
    return "\n".join([head, "<title>Benchmark results</title>", *parts, "</svg>"]) + "\n"


def _bars(panel: _Panel, results: Iterable[Result]) -> Iterable[tuple[str, float, bool]]:
    """Label, value and whose, smaller sizes first."""
    results = sorted(results, key=lambda result: result.n)
    for name, label, ours in panel.bars:
        for result in results:
            if result.name == name:
                yield f"{label}, {result.n:,}", result.value / panel.divisor, ours


def _panel(panel: _Panel, bars: Sequence[tuple[str, float, bool]], y: int) -> Iterable[str]:
    scale = (_WIDTH - _LABELS - _VALUES - _MARGIN) / max(max(bar[1] for bar in bars), 1e-9)
    yield f'<text class="title" x="{_MARGIN}" y="{y + 18}">{escape(panel.title)}</text>'
    y += _TITLE
    for label, value, ours in bars:
        width = max(1.0, value * scale)
        text = f'y="{y + 13}"'
        yield f'<text x="{_LABELS - 8}" {text} text-anchor="end">{escape(label)}</text>'
        yield (
            f'<rect class="{"ours" if ours else "other"}" x="{_LABELS}" y="{y}" '
            f'width="{width:.1f}" height="{_BAR}" rx="2"/>'
        )
        yield f'<text x="{_LABELS + width + 8:.1f}" {text}>{number(value)} {panel.unit}</text>'
        y += _BAR + _GAP
