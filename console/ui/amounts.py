"""Amounts as people read them: three digits at most, in the unit that leaves them whole enough."""

from decimal import Decimal

_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_STEPS = ((86_400, "d"), (3600, "h"), (60, "m"), (1, "s"))
_MILLI, _STEP = Decimal(1000), Decimal(1024)


def cores_text(cores: Decimal) -> str:
    """CPU: `310m` below one core, `1.2` or `18` above. What rounds to nothing is `0`."""
    if abs(cores) < 1:
        milli = round(cores * _MILLI)
        if abs(milli) < _MILLI:
            return f"{milli}m" if milli else "0"
    return _short(cores)


def bytes_text(amount: Decimal) -> str:
    """Memory and disks: `488Mi`, `2.1Gi`, `0`."""
    unit = 0
    # What would be written as 1,024 of a unit is one of the next.
    while round(abs(amount)) >= _STEP and unit < len(_BINARY) - 1:
        amount, unit = amount / _STEP, unit + 1
    return f"{_short(amount)}{_BINARY[unit]}"


def number_text(number: Decimal) -> str:
    """Pieces: `1,284`; parts of a piece are shown only where there are any."""
    whole = number.to_integral_value()
    return f"{whole:,f}" if whole == number else _short(number)


def seconds_text(seconds: int) -> str:
    """A length of time in its two largest units: `8s`, `3m12s`, `2h5m`, `4d`."""
    return "".join(f"{count}{unit}" for count, unit in seconds_parts(seconds))


def seconds_parts(seconds: int) -> list[tuple[int, str]]:
    """The same, each with its unit: s, m, h or d."""
    parts: list[tuple[int, str]] = []
    for size, unit in _STEPS:
        count, seconds = divmod(max(0, seconds), size)
        if count or parts:
            parts.append((count, unit))
    return [(count, unit) for count, unit in parts[:2] if count] or [(0, "s")]


def _short(number: Decimal) -> str:
    """One digit after the point below ten, none above; thousands with commas."""
    if abs(number) < 10:
        return f"{number:.1f}".removesuffix(".0")
    return f"{number:,.0f}"
