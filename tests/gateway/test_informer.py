"""client-go's informer through the gateway: interrupted connections lose no event."""

import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import pytest
import yaml

from bench.reference import go_program
from tests.controlplane.build import BuildError
from tests.controlplane.plugin import skip_or_fail
from tests.controlplane.waiting import eventually
from tests.gateway.demo import Demo
from tests.support.depth import SEED, number

pytestmark = pytest.mark.programs

NAMESPACE = "ci"
#: Ten minutes in the deep run.
_SECONDS, _ROUNDS = number(10, 200), number(1, 3)


class Relay:
    """Passes TCP connections on to a port of this machine, and cuts them."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.cuts = 0
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def cut(self) -> None:
        """Shut all connections down in the middle of whatever they send."""
        self.cuts += len(self._open) > 0
        while self._open:
            _shut_down(self._open.pop())

    def close(self) -> None:
        _shut_down(self._listener)
        self._threads[0].join()
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                outside, _address = self._listener.accept()
                inside = socket.create_connection(("127.0.0.1", self._to))
                self._open += [outside, inside]
                self._threads.append(threading.Thread(target=_serve, args=(outside, inside)))
                self._threads[-1].start()


def _serve(outside: socket.socket, inside: socket.socket) -> None:
    back = threading.Thread(target=_pump, args=(inside, outside))
    with outside, inside:
        back.start()
        _pump(outside, inside)
        back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    _shut_down(source)
    _shut_down(target)


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def relay(demo: Demo) -> Iterator[Relay]:
    found = Relay(demo.tls_port)
    yield found
    found.close()


@contextmanager
def informer(kubeconfig: Path) -> Iterator["subprocess.Popen[str]"]:
    try:
        program = go_program("clientgo", lambda _text: None)
    except BuildError as error:
        skip_or_fail("client-go through the gateway", str(error))
    command = [str(program), "-follow", "-kubeconfig", str(kubeconfig), "-namespace", NAMESPACE]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("part", range(_ROUNDS))
def test_an_informer_loses_nothing_when_its_connections_are_cut(
    demo: Demo, relay: Relay, part: int
) -> None:
    config = yaml.safe_load(demo.kubeconfig("admin").read_text())
    config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{relay.port}/clusters/host"
    path = demo.folder / "relay.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    admin = demo.kubectl(demo.kubeconfig("admin"), NAMESPACE)
    random = Random(SEED + part)  # noqa: S311
    with informer(path) as process:
        until, changes = time.monotonic() + _SECONDS, 0
        while time.monotonic() < until:
            changes += 1
            admin("run", f"cut-{part}-{changes}", "--image=example/cut:1")
            if random.random() < 0.7:
                relay.cut()
            admin(
                "label",
                "pod",
                f"cut-{part}-{random.randint(1, changes)}",
                f"n={changes}",
                "--overwrite",
            )
        assert relay.cuts >= number(3, 30)
        # The informer waits up to some seconds before it connects again.
        eventually(lambda: _seen(process) == _versions(demo), "all events arrived", timeout=60)


def _versions(demo: Demo) -> dict[str, str]:
    listed = demo.send("GET", f"/api/v1/namespaces/{NAMESPACE}/pods").object["items"]
    found = (one["metadata"] for one in listed)
    return {f"{NAMESPACE}/{one['name']}": one["resourceVersion"] for one in found}


def _seen(process: "subprocess.Popen[str]") -> dict[str, str]:
    """Return what the informer's store contains now."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    found: dict[str, str] = json.loads(process.stdout.readline())["versions"]
    return found
