"""Quantities by resource, as used in quotas. Pure functions."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from console.kube.quantity import parse_quantity

Amounts = dict[str, Decimal]


def parse_amounts(texts: Any) -> Amounts:
    """Parse quantities by resource. Invalid quantities are skipped."""
    if not isinstance(texts, dict):
        return {}
    parsed = {resource: parse_quantity(str(text)) for resource, text in texts.items()}
    return {resource: amount for resource, amount in parsed.items() if amount is not None}


def lowest(several: Iterable[Amounts]) -> Amounts:
    """Return the lowest amount of each resource from several quotas."""
    found: Amounts = {}
    for amounts in several:
        for resource, amount in amounts.items():
            found[resource] = min(amount, found.get(resource, amount))
    return found
