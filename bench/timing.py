"""Request timings that the benchmark's console records; see `bench.serving`."""

import msgspec

#: Requests with this header are recorded under its value.
HEADER = "X-Bench"
#: Environment variable with the path of the timing log.
VARIABLE = "BENCH_TIMINGS"


class Timing(msgspec.Struct, frozen=True):
    """`id`: value of the header. `ended`: `time.monotonic()` at the end. `seconds`: duration."""

    id: str
    ended: float
    seconds: float
