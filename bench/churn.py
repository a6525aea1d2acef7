"""A process that changes pods for a while, and tells when the server acknowledged each change.

It reads one line of JSON, an `Order`, from its standard input, and writes one, an `Account`, at the end.
"""

import asyncio
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from bench.podspec import Pod
from bench.podstatus import status_of
from bench.writing import MERGE_PATCH, WRITERS, Access, Writer


class Order(msgspec.Struct, frozen=True):
    """`rate`: changes a second, 0 for as many as go. `seconds` or `changes` ends it, whichever is
    first. `generation`: no two orders to one cluster should have the same."""

    url: str
    ca_file: str
    token: str
    pods: int
    seconds: float
    generation: int
    rate: float = 0.0
    changes: int = sys.maxsize
    #: The pods of this app are left alone.
    spare: str = ""


class Account(msgspec.Struct, frozen=True):
    """The resourceVersion of each change, and when its answer was here (`time.monotonic()`, which
    all processes of a machine share)."""

    acknowledged: list[tuple[str, float]]
    seconds: float


class _Meta(msgspec.Struct):
    resourceVersion: str


class _Answer(msgspec.Struct):
    metadata: _Meta


_answer = msgspec.json.Decoder(_Answer)


async def change(order: Order) -> Account:
    """Writers take pods in turn, so no pod is changed by two at once."""
    writer = Writer(Access(order.url, Path(order.ca_file), order.token))
    acknowledged: list[tuple[str, float]] = []
    started = time.monotonic()
    numbers = iter(range(order.changes))

    async def one() -> None:
        for number in numbers:
            if order.rate:
                await asyncio.sleep(started + number / order.rate - time.monotonic())
            if time.monotonic() - started > order.seconds:
                return
            version = await _change(writer, order, number)
            acknowledged.append((version, time.monotonic()))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(WRITERS, order.pods)):
                group.create_task(one())
    finally:
        await writer.close()
    return Account(acknowledged, time.monotonic() - started)


async def _change(writer: Writer, order: Order, number: int) -> str:
    # A prime step goes through all pods before it comes to the first again.
    pod = Pod(number * 7919 % order.pods)
    if pod.app == order.spare:
        pod = Pod(0)
    generation = order.generation * 1_000_000 + number // order.pods + 1
    status = status_of(pod, generation)
    body = {"status": {key: status[key] for key in ("phase", "conditions", "containerStatuses")}}
    path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/status"
    answer = await writer.send("PATCH", path, body, manager="kubelet", content_type=MERGE_PATCH)
    return _answer.decode(answer).metadata.resourceVersion


class ChurnProcess:
    """`change` in a process of its own. As a context manager it ends with the block."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "ChurnProcess":
        command = [sys.executable, "-m", "bench.churn"]
        process = subprocess.Popen(  # noqa: S603  ourselves
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None  # noqa: S101  it was asked for
        process.stdin.write(msgspec.json.encode(self._order) + b"\n")
        process.stdin.flush()
        self._process = process
        return self

    def account(self) -> Account:
        """Waits for its end."""
        assert self._process is not None  # noqa: S101  only within the block
        output, _ = self._process.communicate()
        return msgspec.json.decode(output, type=Account)

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.terminate()
            # Reads what is left, so that it can end.
            with suppress(ValueError):
                self._process.communicate()


def main() -> None:
    order = msgspec.json.decode(sys.stdin.readline(), type=Order)
    account = asyncio.run(change(order))
    sys.stdout.write(msgspec.json.encode(account).decode() + "\n")


if __name__ == "__main__":
    main()
