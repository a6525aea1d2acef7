"""Parse Kubernetes quantities such as `250m`, `1.5`, `512Mi`, `2G` and `12e6`.

https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

#: Amounts by resource, as in quotas.
Amounts = dict[str, Decimal]

#: Maximum length of a quantity. Those written by Kubernetes have about a dozen characters.
_LONGEST = 64
_FORM = re.compile(
    r"(?P<number>[+-]?([0-9]+\.?[0-9]*|\.[0-9]+))"
    r"(?P<suffix>[numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,3})?",
    re.ASCII,
)
_FACTORS = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "P": Decimal(10**15),
    "E": Decimal(10**18),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
    "Pi": Decimal(2**50),
    "Ei": Decimal(2**60),
}


def parse_quantity(text: str) -> Decimal | None:
    """Return the exact amount in base units (cores, bytes, pieces), or None for a malformed
    quantity.
    """
    match = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    number, suffix = Decimal(match["number"]), match["suffix"] or ""
    if not suffix:
        return number
    factor = _FACTORS.get(suffix)
    return number * factor if factor is not None else number.scaleb(int(suffix[1:]))


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
