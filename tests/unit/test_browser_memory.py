"""Detection of memory growth in the soak test."""

import pytest

from bench.browser_memory import Sample, growth, is_flat


def samples(minutes: int, *, heap_a_minute: int = 0, jitter: int = 0) -> list[Sample]:
    return [
        Sample(
            minute,
            heap=1_000_000 + minute * heap_a_minute + minute % 2 * jitter,
            nodes=12_000,
            listeners=130,
            process=200_000_000,
        )
        for minute in range(minutes + 1)
    ]


def test_constant_memory_is_flat() -> None:
    assert is_flat(growth(samples(60, jitter=300_000)))


def test_slow_growth_is_detected() -> None:
    growths = growth(samples(60, heap_a_minute=2_500))
    assert growths["heap"] == pytest.approx(1.136, abs=0.01)
    assert growths["nodes"] == 1
    assert not is_flat(growths)


def test_warm_up_is_ignored() -> None:
    assert is_flat(growth([Sample(0, 1, 1, 1, 1), *samples(60)[1:]]))


def test_measurement_requires_three_minutes() -> None:
    assert is_flat(growth(samples(3)))
    with pytest.raises(ValueError, match="at least 3 minutes"):
        growth(samples(2))
