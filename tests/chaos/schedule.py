"""The faults of a schedule and their times, derived from its seed."""

from dataclasses import dataclass
from enum import StrEnum
from random import Random

__all__ = ["SERVER", "WIRE", "Fault", "Schedule", "Step", "schedule"]


class Fault(StrEnum):
    """The types of faults. The first half affects the control plane, the second half the
    connection.
    """

    KILL_API = "kill-api"
    FREEZE_API = "freeze-api"
    RESTART_COMPACTED = "restart-compacted"
    KILL_ETCD = "kill-etcd"
    FREEZE_ETCD = "freeze-etcd"
    COMPACT = "compact"
    REVOKE = "revoke"
    RESET = "reset"
    CUT = "cut"
    REFUSE = "refuse"
    HALF_OPEN = "half-open"
    STORM = "429-storm"
    ERRORS = "5xx"
    PIECES = "pieces"


SERVER = (
    Fault.KILL_API,
    Fault.FREEZE_API,
    Fault.RESTART_COMPACTED,
    Fault.KILL_ETCD,
    Fault.FREEZE_ETCD,
    Fault.COMPACT,
    Fault.REVOKE,
)
WIRE = (
    Fault.RESET,
    Fault.CUT,
    Fault.REFUSE,
    Fault.HALF_OPEN,
    Fault.STORM,
    Fault.ERRORS,
    Fault.PIECES,
)
#: Faults during which the console receives no data at all.
SILENT = frozenset({Fault.KILL_API, Fault.FREEZE_API, Fault.REFUSE, Fault.HALF_OPEN})


@dataclass(frozen=True)
class Step:
    """A fault after `pause` seconds that lasts for `seconds`. `number` is the size of the fault, if
    it has one.
    """

    fault: Fault
    pause: float
    seconds: float
    number: int = 0

    def __str__(self) -> str:
        return f"{self.fault}({self.seconds:.1f}s)" if self.seconds else str(self.fault)


@dataclass(frozen=True)
class Schedule:
    """Two lanes that run in parallel. The steps of a lane run in sequence."""

    seed: int
    server: tuple[Step, ...]
    wire: tuple[Step, ...]

    def __str__(self) -> str:
        lanes = (" ".join(map(str, lane)) for lane in (self.server, self.wire) if lane)
        return " | ".join(lanes)

    @property
    def faults(self) -> frozenset[Fault]:
        """Return all faults of the schedule."""
        return frozenset(step.fault for step in (*self.server, *self.wire))


def schedule(seed: int) -> Schedule:
    """Return the schedule for this seed."""
    random = Random(seed)  # noqa: S311 - it need not be a secret
    server = tuple(_step(random, random.choice(SERVER)) for _ in range(random.randint(0, 2)))
    fewest = 0 if server else 1
    wire = tuple(_step(random, random.choice(WIRE)) for _ in range(random.randint(fewest, 3)))
    return Schedule(seed, server, wire)


def _step(random: Random, fault: Fault) -> Step:
    pause = random.uniform(0.1, 1.5)
    seconds = random.uniform(0.3, 4.0)
    if fault in SILENT and random.random() < 0.08:
        seconds = random.choice([18.0, 30.0])
    if fault in (Fault.RESET, Fault.COMPACT, Fault.RESTART_COMPACTED):
        seconds = 0.0
    # Seconds of Retry-After, or a number of bytes: often within the first event, rarely within a
    # list.
    number = random.randint(1, 3)
    if fault in (Fault.CUT, Fault.PIECES):
        number = random.choice([1, 50, 300, 1000, 5000, 100_000])
    return Step(fault, pause, seconds, number)
