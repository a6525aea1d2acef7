"""Render the results as an SVG that is readable on light and dark pages."""

from collections.abc import Iterator

from bench import curves, svg_elements
from bench.result import Report, Result, number
from bench.targets import PODS, SOCKETS, Target, met

WIDTH = 840
_MARGIN = 24
_LABELS = 300
_ROW, _BAR = 24, 14
_HEAD = 44

# Colors of the console; see static/css/tokens.css.
_STYLE = """
svg { --paper: #fefdfc; --ink: #182230; --ink-2: #5c646f; --line: #dad9d4; --ours: #105fa6;
  --other: #9aa1aa; --miss: #b3261e }
@media (prefers-color-scheme: dark) {
  svg { --paper: #141a20; --ink: #ebe9e4; --ink-2: #999fa6; --line: #2c323a; --ours: #79b6f4;
    --other: #6a737d; --miss: #f2857c }
}
text { font: 13px system-ui, sans-serif; fill: var(--ink) }
.paper { fill: var(--paper) }
.title { font-size: 15px; font-weight: 600 }
.note { font-size: 12px; fill: var(--ink-2) }
.miss-text { font-weight: 600; fill: var(--miss) }
rect.ours, circle.ours { fill: var(--ours) } rect.other, circle.other { fill: var(--other) }
rect.miss { fill: var(--miss) }
line { stroke: var(--line) } line.target { stroke: var(--ink); stroke-width: 1.5 }
polyline { fill: none; stroke-width: 2 }
polyline.ours { stroke: var(--ours) } polyline.other { stroke: var(--other) }
"""

_EXPLAINED = f"used share of the limit, with {PODS:,} pods and {SOCKETS} sockets"

#: Title, unit, divisor, and bars: name of the result, label, whether it is Quarterdeck's.
_PEERS = (
    (
        "Time until all pods are cached",
        "s",
        1.0,
        (
            ("sync_seconds", "Quarterdeck", True),
            ("sync_seconds_client_go", "client-go", False),
            ("sync_seconds_client_go_json", "client-go with JSON", False),
            ("sync_seconds_official_informer", "kubernetes.informer", False),
        ),
    ),
    (
        "Memory per pod",
        "KB",
        1000.0,
        (
            ("bytes_per_object", "Quarterdeck", True),
            ("bytes_per_object_client_go", "client-go", False),
            ("process_bytes_per_object_official_informer", "kubernetes.informer, process", False),
        ),
    ),
    (
        "Time to restart 200 Deployments",
        "s",
        1.0,
        (
            ("bulk_restart_seconds", "Quarterdeck", True),
            ("bulk_restart_seconds_kubectl", "kubectl", False),
        ),
    ),
)


def svg(report: Report) -> str:
    """Return the SVG. Charts without results are omitted."""
    parts: list[str] = []
    y = float(_MARGIN)
    for piece in (_targets, _peers, curves.panels):
        drawn, y = piece(report.results, y)
        parts += drawn
    note = f"{report.machine}, shared with the control plane. Commit {report.commit}."
    parts.append(svg_elements.text(_MARGIN, y + 12, note, style="note"))
    height = f"{y + _MARGIN + 12:.0f}"
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}><style>{_STYLE}</style>'
    paper = '<rect class="paper" width="100%" height="100%" rx="6"/>'
    return "\n".join([head, "<title>Benchmark results</title>", paper, *parts, "</svg>"]) + "\n"


def _targets(results: list[Result], y: float) -> tuple[list[str], float]:
    """Draw a bar for each target that shows the used share of the limit."""
    found = list(met(results))
    if not found:
        return [], y
    parts = [
        svg_elements.text(_MARGIN, y + 16, "Targets", style="title"),
        svg_elements.text(_MARGIN + 72, y + 16, _EXPLAINED, style="note"),
    ]
    top = y + _HEAD - 8
    y += _HEAD
    full = (WIDTH - _LABELS - _MARGIN) * 0.42
    for target, result in found:
        parts += _target(target, result, y, full)
        y += _ROW
    parts.append(svg_elements.line(_LABELS + full, top, _LABELS + full, y, "target"))
    parts.append(
        svg_elements.text(_LABELS + full, top - 4, "target", style="note", anchor="middle")
    )
    return parts, y + _ROW


def _target(target: Target, result: Result, y: float, full: float) -> Iterator[str]:
    used = target.used(result.value)
    # Bars are cut off slightly beyond the target line; the number shows the actual value.
    width = min(used, 1.15) * full
    missed = used > 1
    yield svg_elements.text(_LABELS - 12, y + 12, target.label, anchor="end")
    yield svg_elements.bar(_LABELS, y, width, _BAR, "miss" if missed else "ours")
    sign = "at least" if target.at_least else "at most"
    unit = _unit(result.unit)
    value = f"{number(result.value)}{unit}"
    allowed = f"{sign} {number(target.bound)}{unit}"
    x = _LABELS + full * 1.2
    yield svg_elements.text(x, y + 12, value, style="miss-text" if missed else "")
    yield svg_elements.text(x + 92, y + 12, f"{allowed}{_size(result)}", style="note")


def _unit(unit: str) -> str:
    return {"x": " ×", "1/s": "/s", "": ""}.get(unit, f" {unit}")  # noqa: RUF001


def _size(result: Result) -> str:
    """Return the size, unless it is the one in the heading."""
    if result.n in (PODS, SOCKETS):
        return ""
    what = "sockets" if result.name.startswith("frame") else "pods"
    return f"; {result.n:,} {what}"


def _peers(results: list[Result], y: float) -> tuple[list[str], float]:
    parts: list[str] = []
    for title, unit, divisor, names in _PEERS:
        bars = [
            (label, found.n, found.value / divisor, ours)
            for name, label, ours in names
            if (found := _nearest(results, name)) is not None
        ]
        if not bars:
            continue
        parts.append(svg_elements.text(_MARGIN, y + 16, title, style="title"))
        y += _HEAD - 14
        scale = (WIDTH - _LABELS - _MARGIN - 90) / max(value for _, _, value, _ in bars)
        for label, n, value, ours in bars:
            text = f"{label}, {n:,} pods"
            parts.append(svg_elements.text(_LABELS - 12, y + 12, text, anchor="end"))
            style = "ours" if ours else "other"
            parts.append(svg_elements.bar(_LABELS, y, value * scale, _BAR, style))
            shown = f"{number(value)} {unit}"
            parts.append(svg_elements.text(_LABELS + value * scale + 8, y + 12, shown))
            y += _ROW
        y += _ROW
    return parts, y


def _nearest(results: list[Result], name: str) -> Result | None:
    """Return the result whose size is closest to that of the targets."""
    found = (result for result in results if result.name == name)
    return min(found, key=lambda result: abs(result.n - PODS), default=None)
