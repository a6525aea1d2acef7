"""Human-readable amounts with at most three significant digits and a suitable unit."""

from decimal import Decimal

_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_STEPS = ((86_400, "d"), (3600, "h"), (60, "m"), (1, "s"))
_MILLI, _STEP = Decimal(1000), Decimal(1024)


def cores_text(cores: Decimal) -> str:
    """Format CPU cores: `310m` below one core, `1.2` or `18` above. Return `0` for values that
    round to zero.
    """
    if abs(cores) < 1:
        milli = round(cores * _MILLI)
        if abs(milli) < _MILLI:
            return f"{milli}m" if milli else "0"
    return _short(cores)


def bytes_text(amount: Decimal) -> str:
    """Format memory and disk sizes: `488Mi`, `2.1Gi`, `0`."""
    unit = 0
    # Use the next unit for a value that would be displayed as 1,024 of this one.
    while round(abs(amount)) >= _STEP and unit < len(_BINARY) - 1:
        amount, unit = amount / _STEP, unit + 1
    return f"{_short(amount)}{_BINARY[unit]}"


def number_text(number: Decimal) -> str:
    """Format a count: `1,284`. Fractions are shown only if present."""
    whole = number.to_integral_value()
    return f"{whole:,f}" if whole == number else _short(number)


def seconds_text(seconds: int) -> str:
    """Format a duration in its two largest units: `8s`, `3m12s`, `2h5m`, `4d`."""
    return "".join(f"{count}{unit}" for count, unit in seconds_parts(seconds))


def seconds_parts(seconds: int) -> list[tuple[int, str]]:
    """Return the two largest units of a duration as pairs of number and unit (s, m, h or d)."""
    parts: list[tuple[int, str]] = []
    for size, unit in _STEPS:
        count, seconds = divmod(max(0, seconds), size)
        if count or parts:
            parts.append((count, unit))
    return [(count, unit) for count, unit in parts[:2] if count] or [(0, "s")]


def _short(number: Decimal) -> str:
    """Return one decimal below ten, none above, with thousands separators."""
    if abs(number) < 10:
        return f"{number:.1f}".removesuffix(".0")
    return f"{number:,.0f}"
