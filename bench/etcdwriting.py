"""Writes of pods straight into etcd, as another kube-apiserver of the same cluster would make them.

A kube-apiserver that shares two cores with everything else takes some 150 changes a second, and has no
processor left then. What is measured here is the way from a change to people, for which it does not
matter who wrote it: the kube-apiserver under test learns of these changes as it learns of all.

The writing is done by a small Go program, `etcdwriter/main.go`, which takes a tenth of the processor that
Python and etcd's JSON interface would take.
"""

import asyncio
import os
from contextlib import suppress
from itertools import count
from typing import Any, Self

import msgspec

from bench.reference import go_program
from bench.writing import WriteRefused

#: The folder of its source.
PROGRAM = "etcdwriter"
#: Bytes that one answer may have, far more than any has.
_LONGEST_LINE = 1 << 20


class _Answer(msgspec.Struct):
    id: int
    revision: int
    error: str


_answer = msgspec.json.Decoder(_Answer)


class PodWriter:
    """Changes the statuses of pods that it has read before. Use within one event loop."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin and process.stdout  # noqa: S101  `reading` asked for them
        self._process, self._input, self._output = process, process.stdin, process.stdout
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[str]] = {}
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def reading(cls, etcd_url: str, selector: str = "") -> Self:
        """Of all pods, or of those that `selector` chooses. Raises `WriteRefused`."""
        program = go_program(PROGRAM, lambda _text: None)
        process = await asyncio.create_subprocess_exec(
            str(program),
            f"--etcd={etcd_url}",
            f"--selector={selector}",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE,
            # One thread does it, and wakes no others.
            env={**os.environ, "GOMAXPROCS": "1"},
        )
        assert process.stdout  # noqa: S101  it was asked for
        if not await process.stdout.readline():
            raise WriteRefused("the writer could not read the pods from etcd")
        return cls(process)

    async def close(self) -> None:
        self._input.close()
        await self._process.wait()
        await self._listening

    async def set_status(self, namespace: str, name: str, status: dict[str, Any]) -> str:
        """The pod's new resourceVersion, once etcd has it. Raises `WriteRefused`."""
        number = next(self._numbers)
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        asked = {"id": number, "pod": f"{namespace}/{name}", "status": status}
        self._input.write(msgspec.json.encode(asked) + b"\n")
        await self._input.drain()
        return await answer

    async def _listen(self) -> None:
        while line := await self._output.readline():
            said = _answer.decode(line)
            waiting = self._waiting.pop(said.id)
            if said.error:
                waiting.set_exception(WriteRefused(f"etcd: {said.error}"))
            else:
                waiting.set_result(str(said.revision))
        for waiting in self._waiting.values():
            with suppress(asyncio.InvalidStateError):
                waiting.set_exception(WriteRefused("the writer has ended"))
