"""Time from the write of a change until it is in the cache, at a high rate of changes."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.baseline import BaselineWatcher
from bench.churn import ChurnOrder, ChurnProcess, order
from bench.cluster import LoadedControlPlane
from bench.result import Result, percentile
from console.kube.gvr import PODS, Key
from console.kube.informer import Informer
from console.kube.runtime import Runtime
from tests.controlplane.build import Report

_SECONDS = 12.0
#: Share of the server's maximum throughput. At higher rates, events queue in the server.
_SHARE = 0.6
#: Maximum seconds for a change to arrive.
_LATE_SECONDS = 30.0


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    """Measure at the maximum rate, and then at a fraction of the server's throughput.

    At that fraction, the delay is caused by the console and not by queues before it. `rounds` is
    ignored, because each run contains many changes.
    """
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    try:
        if not asyncio.run(runtime.wait_synced(PODS, timeout=120)):
            raise TimeoutError("the cache did not sync")
        informer = runtime.informer(PODS)
        report(f"changing pods for {_SECONDS:g} s, at the maximum rate\n")
        most = _observe(informer, cluster, order(cluster, _SECONDS, 0, generation=2))
        rate = most.passed_on * _SHARE
        report(f"changing pods for {_SECONDS:g} s, {rate:.0f} per second\n")
        steady = _observe(informer, cluster, order(cluster, _SECONDS, rate, generation=3))
    finally:
        runtime.stop()
    n = cluster.pods
    return [
        Result("events_per_second_live", n, steady.rate, "1/s"),
        Result("lag_p50_ms", n, percentile(steady.lags, 0.5), "ms"),
        Result("lag_p99_ms", n, percentile(steady.lags, 0.99), "ms"),
        Result("lag_floor_p99_ms", n, percentile(steady.floor, 0.99), "ms"),
        Result("events_per_second_saturated", n, most.rate, "1/s"),
        Result("events_per_second_passed_on", n, most.passed_on, "1/s"),
        Result("lag_saturated_p99_ms", n, percentile(most.lags, 0.99), "ms"),
        Result("lag_saturated_floor_p99_ms", n, percentile(most.floor, 0.99), "ms"),
    ]


@dataclass(frozen=True, slots=True)
class _Observed:
    """Delays in milliseconds from the write's response until the change arrived.

    They can be negative, because the watch can be faster than the response. `floor`: delays of
    the baseline process. `rate`: written changes per second. `passed_on`: changes per second in
    the baseline process.
    """

    lags: list[float]
    floor: list[float]
    rate: float
    passed_on: float


def _observe(informer: Informer[Any], cluster: LoadedControlPlane, task: ChurnOrder) -> _Observed:
    seen: dict[str, float] = {}

    def note(key: Key) -> None:
        entry = informer.store.get(key)
        if entry is not None:
            seen[entry.resource_version] = time.monotonic()

    remove = informer.add_listener(note)
    try:
        with BaselineWatcher(cluster) as floor:
            with ChurnProcess(task) as churn:
                account = churn.account()
            _wait_for(seen, [version for version, _ in account.acknowledged])
            least = floor.seen()
    finally:
        remove()
    return _Observed(
        [(seen[version] - when) * 1000 for version, when in account.acknowledged],
        [
            (least[version] - when) * 1000
            for version, when in account.acknowledged
            if version in least
        ],
        len(account.acknowledged) / account.seconds,
        len(least) / (max(least.values()) - min(when for _, when in account.acknowledged)),
    )


def _wait_for(seen: Mapping[str, float], versions: Sequence[str]) -> None:
    """Wait until all changes have arrived. None are skipped: changes of a pod are far enough apart."""
    deadline = time.monotonic() + _LATE_SECONDS
    while missing := [version for version in versions if version not in seen]:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(missing)} of {len(versions)} changes never arrived")
        time.sleep(0.1)
