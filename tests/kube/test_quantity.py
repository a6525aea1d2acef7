"""Exact parsing of Kubernetes quantities."""

from decimal import Decimal

import pytest

from console.kube.quantity import parse_quantity


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("0", "0"),
        ("250m", "0.25"),
        ("1.5", "1.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-2", "-2"),
        ("+3k", "3000"),
        ("512Mi", "536870912"),
        ("2G", "2000000000"),
        ("1Ei", "1152921504606846976"),
        ("1E", "1000000000000000000"),
        ("1E3", "1000"),
        ("12e6", "12000000"),
        ("1e-3", "0.001"),
        ("100n", "0.0000001"),
        ("3u", "0.000003"),
    ],
)
def test_every_quantity_format_is_parsed(text: str, amount: str) -> None:
    assert parse_quantity(text) == Decimal(amount)


@pytest.mark.parametrize(
    "text",
    ["", "m", "1 Gi", "1gi", "0x10", "NaN", "Infinity", "1_0", "١", "1e99999999", "9" * 100, "1\n"],
)
def test_invalid_quantity_is_refused(text: str) -> None:
    assert parse_quantity(text) is None
