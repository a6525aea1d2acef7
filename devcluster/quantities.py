"""Conversion of resource quantities to numbers."""

from console.kube import quantity


def parse_quantity(text: str | int | float) -> float:
    """Return the quantity in base units, or 0 if it is malformed."""
    return float(quantity.parse_quantity(str(text)) or 0)
