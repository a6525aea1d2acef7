"""The time, as the pages about accounts and the counter of attempts see it."""

from datetime import datetime

from console.kube.clock import Clock, SystemClock

clock: Clock = SystemClock()


def now() -> datetime:
    """UTC."""
    return clock.now()
