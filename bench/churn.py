"""Process that changes pods for a while and reports when each change was written.

It reads an `ChurnOrder` from stdin as one line of JSON, writes an empty line when it starts, and
writes an `ChurnReport` at the end.
"""

import asyncio
import math
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from bench.cluster import LoadedControlPlane
from bench.etcdwriting import PodWriter
from bench.podspec import Pod
from bench.podstatus import status_of
from bench.writing import WRITERS

#: Maximum number of pods to change, because the process keeps their objects in memory.
_MOST_PODS = 10_000
#: Seconds between bursts. Changes at a fixed rate are written in bursts, like those of kubelets.
#: Waking up for each change would cost the writer half a core.
GUST = 0.02


class ChurnOrder(msgspec.Struct, frozen=True):
    """Parameters of the process.

    `rate`: changes per second, 0 for the maximum. The process stops after `seconds` or
    `changes`, whichever comes first. `generation` should be unique per cluster.
    """

    etcd_url: str
    pods: int
    seconds: float
    generation: int
    rate: float = 0.0
    changes: int = sys.maxsize
    #: Apps whose pods are not changed.
    spare: tuple[str, ...] = ()


class ChurnReport(msgspec.Struct, frozen=True):
    """The resourceVersion of each change and the time of the write (`time.monotonic()`, which is
    comparable between processes of a machine).
    """

    acknowledged: list[tuple[str, float]]
    seconds: float


def order(
    cluster: LoadedControlPlane, seconds: float, rate: float, generation: int, **more: object
) -> ChurnOrder:
    """Return an order to change the pods of `cluster`."""
    plain = ChurnOrder(
        etcd_url=cluster.etcd_url,
        pods=cluster.pods,
        seconds=seconds,
        generation=generation,
        rate=rate,
    )
    return msgspec.structs.replace(plain, **more)


def tenths(pods: int) -> int:
    """Return how many tenths of the pods are changed."""
    return max(1, min(10, _MOST_PODS * 10 // pods))


async def change(order: ChurnOrder) -> ChurnReport:
    """Change pods as ordered. Writers take pods in turn, so that no pod is changed concurrently."""
    share = tenths(order.pods)
    chosen = "" if share == 10 else f"part in ({','.join(map(str, range(share)))})"
    writer = await PodWriter.reading(order.etcd_url, chosen)
    try:
        return await _change_all(order, writer, _pods(order, share))
    finally:
        await writer.close()


def _pods(order: ChurnOrder, share: int) -> list[Pod]:
    # A prime step visits all pods before it repeats one.
    pods = (Pod(number * 7919 % order.pods) for number in range(order.pods))
    return [pod for pod in pods if pod.part < share and pod.app not in order.spare]


async def _change_all(order: ChurnOrder, writer: PodWriter, pods: Sequence[Pod]) -> ChurnReport:
    acknowledged: list[tuple[str, float]] = []
    numbers = iter(range(order.changes))
    sys.stdout.write("\n")
    sys.stdout.flush()
    started = time.monotonic()

    async def one() -> None:
        for number in numbers:
            if order.rate:
                due = started + math.ceil(number / order.rate / GUST) * GUST
                await asyncio.sleep(due - time.monotonic())
            if time.monotonic() - started > order.seconds:
                return
            pod = pods[number % len(pods)]
            generation = order.generation * 1_000_000 + number // len(pods) + 1
            status = status_of(pod, generation)
            version = await writer.set_status(pod.namespace, pod.name, status)
            acknowledged.append((version, time.monotonic()))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(WRITERS, len(pods))):
            group.create_task(one())
    return ChurnReport(acknowledged, time.monotonic() - started)


class ChurnProcess:
    """Context manager that runs `change` in a separate process. Raise OSError if it fails to start."""

    def __init__(self, order: ChurnOrder) -> None:
        self._order = order
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "ChurnProcess":
        command = [sys.executable, "-m", "bench.churn"]
        process = subprocess.Popen(  # noqa: S603  ourselves
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin and process.stdout  # noqa: S101  they were asked for
        self._process = process
        process.stdin.write(msgspec.json.encode(self._order) + b"\n")
        process.stdin.flush()
        if not process.stdout.readline():
            raise OSError("the process that changes pods has ended")
        return self

    def account(self) -> ChurnReport:
        """Wait for the process to end, and return its report."""
        assert self._process is not None  # noqa: S101  only within the block
        output, _ = self._process.communicate()
        return msgspec.json.decode(output, type=ChurnReport)

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.terminate()
            # Read the remaining output, so that the process can exit.
            with suppress(ValueError):
                self._process.communicate()


def main() -> None:
    order = msgspec.json.decode(sys.stdin.readline(), type=ChurnOrder)
    account = asyncio.run(change(order))
    sys.stdout.write(msgspec.json.encode(account).decode() + "\n")


if __name__ == "__main__":
    main()
