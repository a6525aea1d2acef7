"""Run programs in separate network, mount, and PID namespaces that leave nothing behind.

 with Box(folder) as box:
     box.component("sh", Path("/bin/sh")).start(["-c", "sleep 1000"])
     box.run("ip", "address")

Linux namespaces belong to a thread. Each box has a thread that enters new namespaces, so that
programs started by it are inside, while the tests and other programs stay outside.
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

#: The bridge of the box's network and its address inside the box, the same in every box.
BRIDGE, ADDRESS, SUBNET = "pods0", "10.214.0.1", "10.214.0.0/24"

_CLONE_NEWNS, _CLONE_NEWPID, _CLONE_NEWNET = 0x00020000, 0x20000000, 0x40000000
_SECONDS = 60.0
_CGROUPS = Path(__file__).with_name("cgroups.py")

#: A fixed MAC address. Otherwise the bridge takes the address of one of its ports, which changes as
#: pods come and go, and a pod that only sends does not notice the change.
_HARDWARE_ADDRESS = "02:00:00:00:00:01"

#: Data in these directories exists only inside the box.
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
    """This machine cannot run a box or a node. The message is one line for the user."""


def need_root() -> None:
    """Raise Unavailable if this process cannot create namespaces."""
    if sys.platform != "linux" or os.geteuid() != 0:
        raise Unavailable("namespaces need Linux and root")


class Box:
    """A set of namespaces for programs. `cgroup` is the name of its directory in every cgroup
    controller.
    """

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
        """Start the box. Raise Unavailable if the machine does not permit it."""
        need_root()
        try:
            self._keep_cgroup()
            self._thread.submit(_leave).result()
            # PID 1 of the box: when it exits, the kernel kills all other processes. It adopts
            # orphans, and ignoring SIGCHLD avoids zombies.
            self._first.start(["-c", "trap '' CHLD; exec sleep infinity"])
            for command in _PREPARE:
                self.run(*command.split())
        except BaseException as error:
            self.stop()
            if isinstance(error, OSError):
                raise Unavailable(f"namespaces cannot be made: {error}") from error
            raise

    def stop(self) -> None:
        """Kill all programs in the box."""
        # PID 1 comes last: it does not exit before the processes that this process has to reap.
        for component in reversed(self._components):
            component.kill()
        # No process is in the namespaces any longer.
        self._thread.shutdown()
        if self._keeper is not None:
            self._keeper.communicate(timeout=_SECONDS)

    @property
    def network(self) -> Path:
        """Return the file that identifies the box's network namespace while the box is running."""
        return Path(f"/proc/{self._first.pid}/ns/net")

    def component(self, name: str, program: Path) -> Component:
        """Return a program that can be started in the box."""
        component = Component(name, program, self._folder, self._thread)
        self._components.append(component)
        return component

    def run(self, *command: str) -> str:
        """Run a command in the box and return its output. Raise OSError with its error output if it
        fails.
        """
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
        """Start a helper process that removes the cgroup even if this process is killed."""
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
