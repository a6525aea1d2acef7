"""Usage readings from a metrics-server: values, failures and invalid data."""

import asyncio
import math
from contextlib import suppress
from typing import Any

import pytest

from console.kube.errors import Forbidden, NotFound, Unavailable
from console.kube.gvr import Key
from console.kube.metrics_server import ContainerKey, ResourceUsage, UsageProblem
from console.kube.usage import IDLE, OLD, STEP, TOTAL, UsageReader
from console.kube.usage_history import KEPT
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import eventually
from tests.kube.clusters import running
from tests.kube.fakes import FakeClock
from tests.pages.overview.world import Measuring, measured, node_usage, pod_usage

GI = 2**30


async def taken(metrics: Measuring, **options: Any) -> UsageReader:
    usage = UsageReader(metrics, FakeClock(), **options)
    await usage.take()
    return usage


async def test_nodes_pods_and_sums_are_read() -> None:
    reading = (await taken(measured())).read()
    assert reading.nodes["node-1"] == ResourceUsage(1.0, 2 * GI)
    assert reading.nodes[TOTAL] == ResourceUsage(1.25, 3 * GI)
    assert reading.pods[Key("shop", "web-1")] == ResourceUsage(0.6, GI)
    assert reading.namespaces["team-a"] == ResourceUsage(0.2, GI / 16)
    assert (reading.problem, reading.node_problem) == (None, None)
    assert reading.at is not None


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (NotFound(404, "no such group"), UsageProblem.ABSENT),
        (Forbidden(403, "no"), UsageProblem.FORBIDDEN),
        (Unavailable("the request timed out"), UsageProblem.UNAVAILABLE),
        (TimeoutError(), UsageProblem.UNAVAILABLE),
        (b"", UsageProblem.UNREADABLE),
        (b"<html>", UsageProblem.UNREADABLE),
        (b'{"metadata":{},"items":[1,2]}', UsageProblem.UNREADABLE),
        (b'{"metadata":{},"items":[{"metadata":{"name":"n"', UsageProblem.UNREADABLE),
        (b"[" * 100_000, UsageProblem.UNREADABLE),
    ],
)
async def test_problem_is_reported(answer: Any, problem: UsageProblem) -> None:
    reading = (await taken(Measuring(nodes=answer, pods=answer))).read()
    assert (reading.problem, reading.node_problem) == (problem, problem)
    assert (reading.nodes, reading.pods, reading.at) == ({}, {}, None)


@pytest.mark.parametrize(
    "usage",
    [
        ("lots", "1Mi"),
        ("-1", "1Mi"),
        ("1", "-1Mi"),
        ("1e30", "1Mi"),
        ("1", "1e30"),
        ("NaN", "1"),
        ("inf", "1"),
    ],
)
async def test_invalid_measurements_are_skipped(usage: tuple[str, str]) -> None:
    nodes = [node_usage("good", "1", "1Mi"), node_usage("bad", *usage)]
    reading = (await taken(Measuring(nodes=nodes, pods=[]))).read()
    assert set(reading.nodes) == {"good", TOTAL}


async def test_endless_response_is_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.kube.metrics_server.MOST_OBJECTS", 2)
    many = [node_usage(f"n{at}", "1", "1") for at in range(3)]
    assert (await taken(Measuring(nodes=many))).read().node_problem is UsageProblem.UNREADABLE
    monkeypatch.setattr("console.kube.metrics_server.MOST_BYTES", 10)
    assert (await taken(Measuring(nodes=many[:1]))).read().node_problem is UsageProblem.UNREADABLE


async def test_history_covers_an_hour_with_gaps() -> None:
    metrics = measured()
    usage = await taken(metrics)
    good = dict(metrics.answers)
    metrics.answers = dict.fromkeys(good, Unavailable("away"))
    await usage.take()
    metrics.answers = good
    await usage.take()
    cpu = list(usage.of_node("node-1").cpu)
    assert (cpu[0], math.isnan(cpu[1]), cpu[2]) == (1.0, True, 1.0)
    both = usage.of_namespaces(["shop", "team-a", "nowhere"])
    assert both.cpu[0] == pytest.approx(0.8)
    assert list(both.cpu)[0] == pytest.approx(list(usage.of_namespaces(None).cpu)[0])
    for _ in range(KEPT + 5):
        await usage.take()
    assert len(usage.of_node("node-1").cpu) == KEPT
    assert not any(math.isnan(value) for value in usage.of_node("node-1").cpu)


async def test_removed_objects_are_forgotten() -> None:
    metrics = measured()
    usage = await taken(metrics)
    metrics.answers = {"nodes": [], "pods": [pod_usage("shop", "web-1", ("1", "1"))]}
    await usage.take()
    assert len(usage.of_node("node-1").cpu) == 0
    assert set(usage.read().namespaces) == {"shop", TOTAL}


async def test_readings_are_taken_only_while_used() -> None:
    clock, metrics = FakeClock(), measured()
    usage = UsageReader(metrics, clock)
    task = asyncio.create_task(usage.run())

    async def until(seconds: float) -> None:
        while clock.elapsed < seconds:
            await asyncio.sleep(0)

    try:
        async with asyncio.timeout(10):
            await until(100)
            assert metrics.asked == []
            usage.read()
            await until(100 + IDLE + 5 * STEP)
            asked = metrics.asked.count("pods")
            assert IDLE / STEP - 1 <= asked <= IDLE / STEP + 2
            await until(clock.elapsed + 100)
            assert metrics.asked.count("pods") == asked
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_listeners_are_notified_of_each_reading() -> None:
    usage, told = UsageReader(measured(), FakeClock()), []

    def fail() -> None:
        raise RuntimeError("a listener's own")

    usage.add_listener(lambda _key: None, fail)
    remove = usage.add_listener(lambda _key: None, lambda: told.append(usage.read().at))
    await usage.take()
    await usage.take()
    assert told == [usage.read().at] * 2
    remove()
    remove()
    await usage.take()
    assert len(told) == 2


async def test_caller_can_wait_for_a_reading() -> None:
    clock = FakeClock()
    usage = UsageReader(measured(), clock)
    # No reading is taken.
    await usage.wait(timeout=60, fresh=True)
    assert usage.read().problem is UsageProblem.WAITING
    task = asyncio.create_task(usage.run())
    try:
        async with asyncio.timeout(10):
            await asyncio.sleep(0)
            await usage.wait(timeout=60, fresh=False)
            first = usage.read()
            assert first.problem is None
            # A recent reading is sufficient.
            await usage.wait(timeout=60, fresh=True)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(usage, "_taken", clock.monotonic() - OLD - 1)
        await usage.wait(timeout=60, fresh=False)
        began = asyncio.get_running_loop().time()
        await usage.wait(timeout=0.05, fresh=True)
        assert asyncio.get_running_loop().time() - began >= 0.04


async def test_only_the_permitted_namespaces_are_read() -> None:
    metrics = measured()
    reading = (await taken(metrics, namespaces=("shop", "team-a"), whole=False)).read()
    assert metrics.asked == ["pods", "pods"]
    assert reading.node_problem is UsageProblem.FORBIDDEN


def test_cluster_without_metrics_server_is_recognized(control_plane: ControlPlane) -> None:
    with running(control_plane) as runtime:
        eventually(
            lambda: runtime.usage.read().problem is UsageProblem.ABSENT, "it says so", timeout=15
        )
        assert runtime.usage.read().node_problem is UsageProblem.ABSENT


async def test_usage_of_containers_is_kept() -> None:
    metrics = measured()
    usage = await taken(metrics)
    key = ContainerKey(Key("shop", "web-1"), "c0")
    assert usage.containers.now(key) == ResourceUsage(0.5, GI / 2)
    metrics.answers["pods"] = Unavailable("away")
    await usage.take()
    assert usage.containers.now(key) is None
    assert len(usage.containers.total([key]).cpu) == 2


async def test_pause_is_a_gap_in_the_history() -> None:
    clock, metrics = FakeClock(), measured()
    usage = UsageReader(metrics, clock)
    await usage.take()
    await clock.sleep(3 * STEP)
    await usage.take()
    key = ContainerKey(Key("shop", "web-1"), "c0")
    for history in (usage.of_node("node-1"), usage.containers.total([key])):
        assert [math.isnan(value) for value in history.cpu] == [False, True, True, False]
    await clock.sleep(2 * KEPT * STEP)
    await usage.take()
    assert sum(not math.isnan(value) for value in usage.of_node("node-1").cpu) == 1
