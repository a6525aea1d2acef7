from console.live.counters import Durations


def test_durations_are_counted_up_to_each_bound() -> None:
    durations = Durations((0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 7.0):
        durations.observe(seconds)
    assert durations.buckets == ((0.1, 2), (1.0, 3), (float("inf"), 4))
    assert (durations.count, durations.max) == (4, 7.0)
    assert abs(durations.sum - 7.65) < 1e-9
