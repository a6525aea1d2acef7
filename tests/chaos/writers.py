"""Threads that write to the cluster during faults. They bypass the fault-injecting proxy."""

from collections.abc import Sequence
from random import Random
from threading import Event, Thread
from typing import Any

from tests.chaos.history import History
from tests.chaos.targets import Target
from tests.chaos.writer_connection import NoResponse, WriterConnection

__all__ = ["Writers"]

_PER_SECOND = 25.0
#: Few names, so that the same objects are often deleted and recreated.
_NAMES = 15
_BURST = 25
_MERGE = "application/merge-patch+json"
_OPERATIONS = {"create": 6, "update": 8, "delete": 4, "recreate": 3, "burst": 1}


class Writers:
    """Writer threads that run until the end of the `with` block."""

    def __init__(
        self,
        connections: Sequence[WriterConnection],
        targets: Sequence[Target],
        history: History,
        seed: int,
    ) -> None:
        self._stop = Event()
        self._threads = [
            Thread(
                target=self._write,
                args=(number, writer_connection, targets, history, _random(seed, number)),
            )
            for number, writer_connection in enumerate(connections)
        ]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _write(
        self,
        number: int,
        writer_connection: WriterConnection,
        targets: Sequence[Target],
        history: History,
        random: Random,
    ) -> None:
        writer = _Writer(number, writer_connection, history, random)
        while not self._stop.wait(random.expovariate(_PER_SECOND)):
            try:
                writer.write(random.choice(targets))
            except NoResponse as error:
                history.note("silence", writer=number, why=str(error))
                self._stop.wait(0.2)


class _Writer:
    def __init__(
        self, number: int, writer_connection: WriterConnection, history: History, random: Random
    ) -> None:
        self._number, self._connection, self._history, self._random = (
            number,
            writer_connection,
            history,
            random,
        )
        self._count = 0

    def write(self, target: Target) -> None:
        namespace = self._random.choice(target.namespaces)
        name = f"w{self._number}-{self._random.randrange(_NAMES)}"
        operation = self._random.choices([*_OPERATIONS], [*_OPERATIONS.values()])[0]
        if operation in ("delete", "recreate"):
            self._send("DELETE", target, namespace, name)
        if operation in ("create", "recreate"):
            self._send("POST", target, namespace, name, target.body(name))
        if operation in ("update", "burst"):
            for _ in range(_BURST if operation == "burst" else 1):
                self._count += 1
                label = {"metadata": {"labels": {"count": str(self._count)}}}
                self._send("PATCH", target, namespace, name, label)

    def _send(
        self, method: str, target: Target, namespace: str, name: str, body: Any = None
    ) -> None:
        path = target.gvr.path(namespace, "" if method == "POST" else name)
        content_type = _MERGE if method == "PATCH" else "application/json"
        status, answer = self._connection.send(method, path, body, content_type)
        metadata = answer.get("metadata", {})
        uid = metadata.get("uid") or answer.get("details", {}).get("uid", "")
        self._history.note(
            "write",
            method=method,
            status=status,
            resource=target.gvr.qualified,
            key=f"{namespace}/{name}",
            uid=uid,
            version=metadata.get("resourceVersion", ""),
        )


def _random(seed: int, number: int) -> Random:
    return Random(f"{seed}/{number}")  # noqa: S311 - it need not be a secret
