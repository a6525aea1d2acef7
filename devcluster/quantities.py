"""Amounts of CPU and memory as numbers."""

from console.kube import quantity


def parse_quantity(text: str | int | float) -> float:
    """The amount in base units; 0 for what is no quantity."""
    return float(quantity.parse_quantity(str(text)) or 0)
