"""Amounts of CPU and memory: `250m`, `1.5`, `512Mi`, `2G`."""

from decimal import Decimal, InvalidOperation

_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
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


def parse_quantity(text: str | int | float) -> float:
    """The amount in base units; 0 for what is no quantity."""
    word = str(text)
    number = word.rstrip("numkKMGTPEi")
    try:
        return float(Decimal(number) * _SUFFIXES[word[len(number) :]])
    except (InvalidOperation, KeyError):
        return 0.0
