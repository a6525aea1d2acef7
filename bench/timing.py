"""What the bench's console notes of each request; see `bench.serving`."""

import msgspec

#: Requests that carry it are noted, under its value.
HEADER = "X-Bench"
#: The environment variable that names the file.
VARIABLE = "BENCH_TIMINGS"


class Timing(msgspec.Struct, frozen=True):
    """`id`: the header's value. `ended` is `time.monotonic()`; `seconds` the time before it."""

    id: str
    ended: float
    seconds: float
