"""Detection of running KubeSphere controllers by the console's clock, independent of the other
machine's clock.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import pytest

from console.kube.clients import ObjectClient
from console.kube.errors import ServerError
from console.kube.gvr import LEASES
from tests.rbac.fakes import FakeConsole, MovableClock
from workspaces.controllers.kubesphere_lease import (
    CHECK_INTERVAL,
    NAME,
    NAMESPACE,
    KubeSphereDetector,
)

AHEAD = [timedelta(0), timedelta(seconds=-70), timedelta(seconds=70), timedelta(days=-400)]
ahead = pytest.mark.parametrize("ahead", AHEAD, ids=str)


class Manager:
    """ks-controller-manager on a machine whose clock is ahead of the console's clock."""

    def __init__(self, ahead: timedelta = timedelta(0)) -> None:
        self.clock, self._ahead = MovableClock(), ahead
        self.console = FakeConsole({})
        self.client = cast(ObjectClient, self.console)

    def renew(self, seconds: Any = 30, holder: str = "ks-0") -> None:
        renewed = (self.clock.now() + self._ahead).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"holderIdentity": holder, "leaseDurationSeconds": seconds, "renewTime": renewed}
        metadata = {"name": NAME, "namespace": NAMESPACE}
        self.console.put(LEASES, {"metadata": metadata, "spec": spec})

    def looks(self) -> KubeSphereDetector:
        return KubeSphereDetector(self.client, self.clock)


@ahead
async def test_the_manager_is_active_until_two_lease_durations_after_the_last_renewal(
    ahead: timedelta,
) -> None:
    manager = Manager(ahead)
    manager.renew()
    kubesphere = manager.looks()
    for _ in range(30):
        assert await kubesphere.is_running()
        manager.clock.move(seconds=CHECK_INTERVAL)
        manager.renew()
    assert await kubesphere.is_running()
    manager.clock.move(seconds=59)
    assert await kubesphere.is_running()
    manager.clock.move(seconds=CHECK_INTERVAL)
    assert not await kubesphere.is_running()
    manager.renew()
    manager.clock.move(seconds=CHECK_INTERVAL)
    assert await kubesphere.is_running()


@pytest.mark.parametrize("seconds", [0, -1, None])
async def test_an_invalid_lease_duration_is_replaced_by_the_default(seconds: int | None) -> None:
    manager = Manager()
    manager.renew(seconds)
    kubesphere = manager.looks()
    assert await kubesphere.is_running()
    manager.clock.move(seconds=59)
    assert await kubesphere.is_running()
    manager.clock.move(seconds=CHECK_INTERVAL)
    assert not await kubesphere.is_running()


async def test_a_missing_lease_or_holder_means_inactive() -> None:
    manager = Manager()
    assert not await manager.looks().is_running()
    manager.renew(holder="")
    assert not await manager.looks().is_running()
    before = manager.clock.monotonic()
    assert not await manager.looks().is_renewing_lease()
    assert manager.clock.monotonic() == before


@ahead
async def test_a_single_check_waits_for_a_renewal(ahead: timedelta) -> None:
    manager = Manager(ahead)
    manager.renew()
    manager.clock.move(days=1)
    assert not await manager.looks().is_renewing_lease()
    began = manager.clock.monotonic()
    sleep: Callable[[float], Any] = manager.clock.sleep

    async def renewing(seconds: float) -> None:
        await sleep(seconds)
        if manager.clock.monotonic() >= began + CHECK_INTERVAL:
            manager.renew()

    manager.clock.sleep = renewing  # type: ignore[method-assign]
    async with asyncio.timeout(5):
        assert await manager.looks().is_renewing_lease()
    assert manager.clock.monotonic() - began < 2 * CHECK_INTERVAL


async def test_an_invalid_lease_raises_a_server_error() -> None:
    manager = Manager()
    manager.renew("soon")
    for ask in (manager.looks().is_running, manager.looks().is_renewing_lease):
        with pytest.raises(ServerError):
            await ask()
