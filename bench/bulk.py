"""Restart many Deployments from the list, compared with `kubectl rollout restart`."""

import asyncio
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from statistics import median

from bench.pages import FEW_PODS
from bench.reading import MISTAKE, Reader, hidden
from bench.result import Result, percentile
from bench.stage import NAMESPACE, TwoUsers
from bench.worldspec import RelatedObject, around
from console.kube.gvr import DEPLOYMENTS

OBJECTS = 200
_LIST = f"/clusters/host/{DEPLOYMENTS.resource}?namespace={NAMESPACE}"
_RESTART = f"/bulk/host/{DEPLOYMENTS.resource}/restart"
_REASON = re.compile(r'<span class="where">([^<]+)</span>')
#: Pages to request before each restart. The delay matters: kubectl rejects a second restart within
#: one second.
_CALM, _CALM_OF_FEW = 80, 40
#: Seconds to wait until the console lists all objects, and between two checks.
_READY_SECONDS, _LOOK = 120.0, 0.2


@dataclass(frozen=True, slots=True)
class _Restarts:
    """Durations of the restarts in milliseconds, and response times of another user's pages
    meanwhile.
    """

    times: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)


def objects() -> Iterator[RelatedObject]:
    """Yield Deployments like those of the loaded cluster. Their number doesn't depend on the
    cluster's size.
    """
    found = (one for number in count() for one in around(number) if one.gvr == DEPLOYMENTS)
    for number, one in enumerate(islice(found, OBJECTS)):
        place = {"name": f"restarted-{number}", "namespace": NAMESPACE}
        yield RelatedObject(
            DEPLOYMENTS, {**one.body, "metadata": {**one.body["metadata"], **place}}
        )


async def results(stage: TwoUsers, rounds: int) -> list[Result]:
    """Measure the console and kubectl in turn, so that other load on the machine affects both
    equally.
    """
    await _ready(stage)
    pods = stage.cluster.pods
    few = _CALM if pods > FEW_PODS else _CALM_OF_FEW
    ours, theirs = _Restarts(), _Restarts()
    calm: list[float] = []
    for number in range(1, rounds + 1):
        stage.report(f"restarting {OBJECTS} deployments, {number} of {rounds}\n")
        for restart, found in ((_by_console, ours), (_by_kubectl, theirs)):
            calm += await stage.pages(few)
            took, pages = await stage.measure_during(restart(stage))
            found.times.append(took)
            found.pages.extend(pages)
    usual, took = percentile(calm, 0.95), median(ours.times)
    late, late_of_kubectl = (percentile(one.pages, 0.95) for one in (ours, theirs))
    return [
        Result("bulk_restart_seconds", pods, took / 1000, "s"),
        Result("bulk_restart_seconds_kubectl", pods, median(theirs.times) / 1000, "s"),
        Result("bulk_restart_ratio_kubectl", pods, took / median(theirs.times), "x"),
        Result("page_p95_during_bulk_ms", pods, late, "ms"),
        Result("page_ratio_during_bulk", pods, late / usual, "x"),
        Result("page_ratio_during_bulk_kubectl", pods, late_of_kubectl / usual, "x"),
    ]


async def _by_console(stage: TwoUsers) -> float:
    """Measure from the confirmation until the last result is reported."""
    _page, listed = await Reader(stage.console, stage.acting, never=MISTAKE).one(_LIST)
    asking = Reader(stage.console, stage.acting, 'name="targets"', MISTAKE)
    _page, asked = await asking.one(_RESTART, {**hidden(listed), "all": "1"})
    doing = Reader(stage.console, stage.acting, 'class="summary"', MISTAKE)
    page, done = await doing.one(_RESTART, hidden(asked))
    if done.count('data-outcome="done"') != OBJECTS:
        reasons = sorted(set(_REASON.findall(done)))
        raise OSError(f"not all of {OBJECTS} deployments were restarted: {reasons}")
    return page.client


async def _by_kubectl(stage: TwoUsers) -> float:
    took, told = await stage.kubectl("rollout", "restart", DEPLOYMENTS.resource)
    if told.count("restarted\n") != OBJECTS:
        raise OSError(f"kubectl did not restart all of {OBJECTS} deployments")
    return took


async def _ready(stage: TwoUsers) -> None:
    """Wait until the console lists all objects. Raise OSError after a timeout."""
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        async with stage.acting.get(_LIST) as response:
            if f'data-total="{OBJECTS}"' in await response.text():
                return
        if time.monotonic() > deadline:
            raise OSError(f"the console does not list {OBJECTS} deployments")
        await asyncio.sleep(_LOOK)
