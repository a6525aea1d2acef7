"""What a controller does between two looks at an object."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from console.kube import controller
from console.kube.controller import NotSynced, Progress, Request, Result
from console.kube.gvr import NAMESPACES
from console.kube.informer import Informer
from tests.kube.fakes import FakeClock
from tests.ui.support import namespace


class Patient:
    """Looks at a namespace once all is known."""

    name, gvr = "patient", NAMESPACES

    def __init__(self) -> None:
        self.known = False
        self.looks = 0

    async def reconcile(self, request: Request) -> Result:
        self.looks += 1
        if not self.known:
            raise NotSynced
        return Result()


async def comes_to(reached: Callable[[Progress], bool]) -> None:
    """Waits for that; the time limit of tests ends what never comes."""
    while not (found := controller.progress().get("patient")) or not reached(found):
        await asyncio.sleep(0)


async def test_a_look_that_came_too_early_is_one_to_come() -> None:
    runtime: Any = SimpleNamespace(
        clock=FakeClock(),
        informer=lambda gvr: Informer.preloaded(gvr, [namespace("shop")]),
    )
    reconciler = Patient()
    running = asyncio.create_task(controller.run(runtime, reconciler))
    await comes_to(lambda told: reconciler.looks > 2 and told.waiting == 1)
    assert (controller.progress()["patient"].done, controller.progress()["patient"].failed) == (
        0,
        0,
    )
    reconciler.known = True
    await comes_to(lambda told: told.done == 1 and told.waiting == 0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
