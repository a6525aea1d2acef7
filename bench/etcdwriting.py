"""Write pod changes directly to etcd, like another kube-apiserver of the same cluster.

A kube-apiserver that shares two cores with all other processes handles some 150 changes per
second, with no CPU time left. The benchmarks measure the time from a change to the user, so the
writer doesn't matter: the kube-apiserver under test receives these changes like any others.

A small Go program, `etcdwriter/main.go`, does the writing. It needs a tenth of the CPU time that
Python and etcd's JSON gateway would need.
"""

import asyncio
import os
from contextlib import suppress
from itertools import count
from typing import Any, Self

import msgspec

from bench.reference import go_program
from bench.writing import WriteRefused

#: Folder of the program's source.
PROGRAM = "etcdwriter"
#: Maximum bytes of a response line; actual lines are much shorter.
_LONGEST_LINE = 1 << 20


class _Answer(msgspec.Struct):
    id: int
    revision: int
    error: str


_answer = msgspec.json.Decoder(_Answer)


class PodWriter:
    """Changes the status of pods that it has read before. Use it within one event loop."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin and process.stdout  # noqa: S101  `reading` asked for them
        self._process, self._input, self._output = process, process.stdin, process.stdout
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[str]] = {}
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def reading(cls, etcd_url: str, selector: str = "") -> Self:
        """Start a writer for all pods, or for those that `selector` matches. Raise `WriteRefused`."""
        program = go_program(PROGRAM, lambda _text: None)
        process = await asyncio.create_subprocess_exec(
            str(program),
            f"--etcd={etcd_url}",
            f"--selector={selector}",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE,
            # One thread suffices and doesn't wake up others.
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
        """Write a status, and return the pod's new resourceVersion. Raise `WriteRefused`."""
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
