"""SVG elements as text. All lengths are in CSS pixels."""

from xml.sax.saxutils import escape


def text(
    x: float, y: float, content: str, *, style: str = "", anchor: str = "start", title: str = ""
) -> str:
    """Return a text element. `y` is the baseline."""
    look = f' class="{style}"' if style else ""
    more = f"<title>{escape(title)}</title>" if title else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text{look} {place}>{escape(content)}{more}</text>"


def bar(x: float, y: float, width: float, height: float, style: str) -> str:
    """Return a bar that is at least wide enough to be visible."""
    size = f'width="{max(1.5, width):.1f}" height="{height:.1f}"'
    return f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" {size} rx="2"/>'


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def path(points: list[tuple[float, float]], style: str) -> str:
    """Return a line through the points, with a dot at each."""
    steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points)
    return f'<polyline class="{style}" points="{steps}"/>{dots}'
