"""Scheduling of reconcile requests in a controller."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from console.kube import controller
from console.kube.controller import ControllerStats, NotSynced, Request, Result
from console.kube.gvr import NAMESPACES, Key
from tests.kube.fakes import FakeClock
from tests.support.informers import preloaded
from tests.ui.support import namespace


class Patient:
    """Reconcile a namespace once all data is loaded."""

    name, gvr = "patient", NAMESPACES

    def __init__(self) -> None:
        self.known = False
        self.looks = 0

    async def reconcile(self, request: Request) -> Result:
        self.looks += 1
        if not self.known:
            raise NotSynced
        return Result()


async def comes_to(reached: Callable[[ControllerStats], bool]) -> None:
    """Wait until the condition is met, limited by the time limit of the test."""
    while not (found := controller.controller_stats().get("patient")) or not reached(found):
        await asyncio.sleep(0)


async def test_request_before_sync_is_requeued_without_counting_as_a_failure() -> None:
    runtime: Any = SimpleNamespace(
        clock=FakeClock(),
        informer=lambda gvr: preloaded(gvr, [namespace("shop")]),
    )
    reconciler = Patient()
    running = asyncio.create_task(controller.run(runtime, reconciler))
    await comes_to(lambda told: reconciler.looks > 2 and told.waiting == 1)
    assert (
        controller.controller_stats()["patient"].done,
        controller.controller_stats()["patient"].failed,
    ) == (
        0,
        0,
    )
    reconciler.known = True
    await comes_to(lambda told: told.done == 1 and told.waiting == 0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


class Together:
    """Reconcile all namespaces in one request, without waiting."""

    name, gvr = "together", NAMESPACES

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def request_for(self, key: Key) -> Request | None:
        return Request("", "all") if key.name != "none" else None

    async def reconcile(self, request: Request) -> Result:
        self.asked.append(request)
        return Result()


def world(*names: str) -> Any:
    return SimpleNamespace(
        clock=FakeClock(),
        informer=lambda gvr: preloaded(gvr, [namespace(name) for name in names]),
    )


async def test_combined_requests_are_reconciled_once() -> None:
    reconciler = Together()
    running = asyncio.create_task(controller.run(world("a", "b", "none", "c"), reconciler))
    while not reconciler.asked:
        await asyncio.sleep(0)
    for _ in range(5):
        await asyncio.sleep(0)
    assert reconciler.asked == [Request("", "all")]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_reconcile_without_waiting_does_not_block_the_event_loop() -> None:
    """The lease is renewed on the same loop."""
    reconciler = Patient()
    reconciler.known = True
    running = asyncio.create_task(
        controller.run(world(*(f"n{number}" for number in range(500))), reconciler)
    )
    turns = 0
    while reconciler.looks < 500:
        await asyncio.sleep(0)
        turns += 1
    assert turns > 100
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
