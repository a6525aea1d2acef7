"""Programs with a network, mounts and process ids of their own, that end together and leave nothing.

    with Box(folder) as box:
        box.component("sh", Path("/bin/sh")).start(["-c", "sleep 1000"])
        box.run("ip", "address")

Linux keeps namespaces per thread. The thread of a box leaves those of the machine for new ones, so what
it starts is in there, while the tests, and what they start, stay outside.
"""

import ctypes
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.controlplane.component import Component, environment

__all__ = ["ADDRESS", "BRIDGE", "SUBNET", "Box", "Unavailable", "need_root"]

#: The bridge of the box's network, and its address there. They are the same in every box.
BRIDGE, ADDRESS, SUBNET = "pods0", "10.214.0.1", "10.214.0.0/24"

_CLONE_NEWNS, _CLONE_NEWPID, _CLONE_NEWNET = 0x00020000, 0x20000000, 0x40000000
_SECONDS = 60.0
_CGROUPS = Path(__file__).with_name("cgroups.py")

#: The bridge's own for good: else it takes that of one of its ports, another one as pods come and go, and
#: a pod that only sends is not told of it.
_HARDWARE_ADDRESS = "02:00:00:00:00:01"

#: What is written here stays in the box and is gone with it.
_PRIVATE = ("/run", "/var/lib", "/var/log")
_PREPARE = (
    "mount --make-rprivate /",
    "mount -t proc proc /proc",
    *(f"mount -t tmpfs tmpfs {folder}" for folder in _PRIVATE),
    "ip link set lo up",
    f"ip link add {BRIDGE} address {_HARDWARE_ADDRESS} type bridge",
    f"ip address add {ADDRESS}/24 dev {BRIDGE}",
    f"ip link set {BRIDGE} up",
)


class Unavailable(Exception):
    """This machine cannot have it; the message is one line for a person."""


def need_root() -> None:
    """Unavailable where nobody may make namespaces."""
    if sys.platform != "linux" or os.geteuid() != 0:
        raise Unavailable("namespaces need Linux and root")


class Box:
    """`cgroup` is for what is in it, too: a folder of that name in every controller."""

    def __init__(self, folder: Path) -> None:
        self.cgroup = folder.name
        self._folder = folder
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="box")
        self._components: list[Component] = []
        self._first = self.component("first", Path("/bin/sh"))
        self._keeper: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Unavailable if this machine does not let us."""
        need_root()
        try:
            self._keep_cgroup()
            self._thread.submit(_leave).result()
            # Process 1: when it ends, the kernel ends all others. It inherits those whose parents
            # ended, and who ignores SIGCHLD leaves no zombies.
            self._first.start(["-c", "trap '' CHLD; exec sleep infinity"])
            for command in _PREPARE:
                self.run(*command.split())
        except BaseException as error:
            self.stop()
            if isinstance(error, OSError):
                raise Unavailable(f"namespaces cannot be made: {error}") from error
            raise

    def stop(self) -> None:
        """Ends all that is in it."""
        # The first last: its end waits until those that are ours to wait for are gone.
        for component in reversed(self._components):
            component.kill()
        # Nobody else is in the namespaces now.
        self._thread.shutdown()
        if self._keeper is not None:
            self._keeper.communicate(timeout=_SECONDS)

    @property
    def network(self) -> Path:
        """The file by which others find its network, while it lasts."""
        return Path(f"/proc/{self._first.pid}/ns/net")

    def component(self, name: str, program: Path) -> Component:
        """A program to start in there."""
        component = Component(name, program, self._folder, self._thread)
        self._components.append(component)
        return component

    def run(self, *command: str) -> str:
        """The output of a command in there; OSError with its complaint if it fails."""
        return self._thread.submit(self._run, command).result()

    def _run(self, command: tuple[str, ...]) -> str:
        done = subprocess.run(
            command,
            env=environment(self._folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def _keep_cgroup(self) -> None:
        """By a process that outlives this one for as long as that takes."""
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_CGROUPS), self.cgroup],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._keeper.stdout is not None and self._keeper.stderr is not None
        if self._keeper.stdout.readline() != "made\n":
            complaint = self._keeper.stderr.read().strip().splitlines()[-1:]
            raise OSError(f"no cgroups: {''.join(complaint)}")


def _leave() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNS | _CLONE_NEWPID | _CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
