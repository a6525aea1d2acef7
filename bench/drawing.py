"""Pieces of an SVG, as text. All lengths are in its own units, which are pixels of a screen."""

from xml.sax.saxutils import escape


def text(
    x: float, y: float, content: str, *, style: str = "", anchor: str = "start", title: str = ""
) -> str:
    """`y` is the base line."""
    look = f' class="{style}"' if style else ""
    more = f"<title>{escape(title)}</title>" if title else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text{look} {place}>{escape(content)}{more}</text>"


def bar(x: float, y: float, width: float, height: float, style: str) -> str:
    """Never so small that it cannot be seen."""
    size = f'width="{max(1.5, width):.1f}" height="{height:.1f}"'
    return f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" {size} rx="2"/>'


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def path(points: list[tuple[float, float]], style: str) -> str:
    """Through the points, each with a dot."""
    steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points)
    return f'<polyline class="{style}" points="{steps}"/>{dots}'
