"""Background work of the audit trail, in threads of each web process: sealing, retention and exports.
Each thread has its own database connection, so that no request waits for it.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

from django.db import DatabaseError, connection

log = logging.getLogger(__name__)

#: Minimum and maximum seconds between two runs. Records of other processes don't wake the thread.
SHORTEST, LONGEST = 1.0, 10.0

#: One event for each thread.
_news: list[Event] = []


def notify() -> None:
    """Wake the background threads, because a record was written. Any thread may call this."""
    for news in tuple(_news):
        news.set()


@contextmanager
def running(jobs: Sequence[Callable[[], object]]) -> Iterator[None]:
    """Run `jobs` repeatedly while the block runs, each until it returns a false value."""
    stop, news = Event(), Event()
    work = Thread(target=_work, args=(jobs, stop, news), name="quarterdeck-audit", daemon=True)
    _news.append(news)
    work.start()
    try:
        yield
    finally:
        _news.remove(news)
        stop.set()
        news.set()
        work.join(timeout=LONGEST)


def _work(jobs: Sequence[Callable[[], object]], stop: Event, news: Event) -> None:
    try:
        while not stop.wait(SHORTEST):
            news.wait(LONGEST)
            news.clear()
            for job in jobs:
                _run(job, stop)
    finally:
        connection.close()


def _run(job: Callable[[], object], stop: Event) -> None:
    try:
        while not stop.is_set() and job():
            pass
    except DatabaseError as error:
        log.warning("The audit trail is not available: %s", error)
        connection.close()


def at_most_every(seconds: float, job: Callable[[], object]) -> Callable[[], None]:
    """Return a job that runs `job` if `seconds` have passed since its last run."""
    last = -seconds

    def run() -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            job()

    return run
