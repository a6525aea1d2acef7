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
from console.kube.gvr import CONFIG_MAPS, ENDPOINTS, GVR, LEASES
from tests.rbac.fakes import FakeConsole, MovableClock
from tests.workspaces.kubesphere_locks import lock_object
from workspaces.controllers.kubesphere_locks import CHECK_INTERVAL, KubeSphereDetector

AHEAD = [timedelta(0), timedelta(seconds=-70), timedelta(seconds=70), timedelta(days=-400)]
ahead = pytest.mark.parametrize("ahead", AHEAD, ids=str)
each_lock = pytest.mark.parametrize("lock", [LEASES, CONFIG_MAPS, ENDPOINTS], ids=str)


class Manager:
    """ks-controller-manager on a machine whose clock is ahead of the console's clock."""

    def __init__(self, lock: GVR = LEASES, ahead: timedelta = timedelta(0)) -> None:
        self.clock, self._ahead = MovableClock(), ahead
        self.lock = lock
        self.console = FakeConsole({})
        self.client = cast(ObjectClient, self.console)

    def renew(self, seconds: Any = 30, holder: str = "ks-0") -> None:
        renewed = (self.clock.now() + self._ahead).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        lock = lock_object(
            self.lock, holderIdentity=holder, leaseDurationSeconds=seconds, renewTime=renewed
        )
        self.console.put(self.lock, lock)

    def looks(self) -> KubeSphereDetector:
        return KubeSphereDetector(self.client, self.clock)


@each_lock
@ahead
async def test_the_manager_is_active_until_two_lease_durations_after_the_last_renewal(
    ahead: timedelta, lock: GVR
) -> None:
    manager = Manager(lock, ahead)
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


@each_lock
@pytest.mark.parametrize("seconds", [0, -1, None])
async def test_an_invalid_lease_duration_is_replaced_by_the_default(
    seconds: int | None, lock: GVR
) -> None:
    manager = Manager(lock)
    manager.renew(seconds)
    kubesphere = manager.looks()
    assert await kubesphere.is_running()
    manager.clock.move(seconds=59)
    assert await kubesphere.is_running()
    manager.clock.move(seconds=CHECK_INTERVAL)
    assert not await kubesphere.is_running()


@each_lock
async def test_a_missing_lock_or_holder_means_inactive(lock: GVR) -> None:
    manager = Manager(lock)
    assert not await manager.looks().is_running()
    manager.renew(holder="")
    assert not await manager.looks().is_running()
    before = manager.clock.monotonic()
    assert await manager.looks().find_renewed_lock() is None
    assert manager.clock.monotonic() == before


@each_lock
@ahead
async def test_a_single_check_waits_for_a_renewal(ahead: timedelta, lock: GVR) -> None:
    manager = Manager(lock, ahead)
    manager.renew()
    manager.clock.move(days=1)
    assert await manager.looks().find_renewed_lock() is None
    began = manager.clock.monotonic()
    sleep: Callable[[float], Any] = manager.clock.sleep

    async def renewing(seconds: float) -> None:
        await sleep(seconds)
        if manager.clock.monotonic() >= began + CHECK_INTERVAL:
            manager.renew()

    manager.clock.sleep = renewing  # type: ignore[method-assign]
    async with asyncio.timeout(5):
        assert await manager.looks().find_renewed_lock() == lock
    assert manager.clock.monotonic() - began < 2 * CHECK_INTERVAL


@each_lock
async def test_an_invalid_lock_raises_a_server_error(lock: GVR) -> None:
    manager = Manager(lock)
    manager.renew("soon")
    for ask in (manager.looks().is_running, manager.looks().find_renewed_lock):
        with pytest.raises(ServerError):
            await ask()


@pytest.mark.parametrize("annotation", ["", "{", "null", "[]", "[" * 100_000], ids=len)
async def test_an_annotation_that_is_not_a_lock_is_ignored_or_reported(annotation: str) -> None:
    manager = Manager(CONFIG_MAPS)
    config_map = lock_object(CONFIG_MAPS)
    config_map["metadata"]["annotations"] = {"control-plane.alpha.kubernetes.io/leader": annotation}
    manager.console.put(CONFIG_MAPS, config_map)
    if annotation:
        with pytest.raises(ServerError):
            await manager.looks().is_running()
    else:
        assert not await manager.looks().is_running()


@pytest.mark.parametrize("living", [LEASES, CONFIG_MAPS, ENDPOINTS], ids=str)
async def test_an_expired_lock_of_an_earlier_version_does_not_hide_a_renewed_lock(
    living: GVR,
) -> None:
    manager = Manager()
    for manager.lock in (LEASES, CONFIG_MAPS, ENDPOINTS):
        manager.renew(holder="ks-before-the-upgrade")
    kubesphere = manager.looks()
    manager.lock = living
    for _ in range(30):
        manager.clock.move(seconds=CHECK_INTERVAL)
        manager.renew()
        assert await kubesphere.is_running()
    manager.clock.move(seconds=60)
    assert not await kubesphere.is_running()
