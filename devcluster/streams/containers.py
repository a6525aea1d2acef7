"""Simulated containers created from their pods."""

from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime

from devcluster.authn import TokenFile
from devcluster.objects import Obj, dig, meta, parse_time
from devcluster.shell.files import Binary, Device, File, Files, Folder, Node, Volume
from devcluster.shell.images import SHELLS, Image, image_named
from devcluster.shell.processes import Container, User
from devcluster.shell.programs.system import MEMORY, PROCESSORS, RELEASE, VERSION
from devcluster.shell.shells import PROGRAMS
from devcluster.store import Store
from devcluster.streams.environment import environment_of, hostname_of
from devcluster.streams.mounts import Mounts
from devcluster.streams.targets import TargetContainer, running_container

# Maximum number of containers in memory. Changes in least recently used containers are lost.
_KEPT = 50
_FOLDERS = ("home", "media", "mnt", "opt", "root", "run", "srv", "sys", "usr/bin", "usr/local/bin")
_DEVICES = {"null": "null", "zero": "zero", "random": "random", "urandom": "random", "tty": "tty"}


class Containers:
    def __init__(self, store: Store, tokens: TokenFile) -> None:
        self._store, self._mounts = store, Mounts(store, tokens)
        self._known: OrderedDict[str, Container] = OrderedDict()

    def get(self, target: TargetContainer) -> Container:
        """Return the container. The same object is returned for the whole run, so that written
        files persist.
        """
        key = f"{meta(target.pod)['uid']}/{target.name}/{target.id}/{target.started}"
        found = self._known.pop(key, None) or self._make(target)
        self._known[key] = found
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return found

    def _make(self, target: TargetContainer) -> Container:
        pod, declared = target.pod, target.declared
        image = image_named(str(declared.get("image", "")))
        user, files = _user(pod, declared), Files()
        command = [*_texts(declared.get("command")), *_texts(declared.get("args"))]
        folder = str(declared.get("workingDir") or "/")
        made = Container(
            PROGRAMS if image.shells else {},
            files,
            environment_of(self._store, pod, declared, user.home),
            hostname=hostname_of(pod),
            main=command or image.command,
            started=parse_time(target.started),
            user=user,
            folder=folder if folder.startswith("/") else "/",
        )
        self._fill(files, image, pod, made)
        self._mounts.mount(files, pod, declared)
        if not isinstance(files.find(made.folder), Folder):
            made.folder = "/"
        other = running_container(pod, str(declared.get("targetContainerName") or ""))
        if other:
            # The debug container shares the process namespace, and thereby the files, of its target
            # container.
            self._join(made, self.get(other))
        return made

    @staticmethod
    def _join(made: Container, other: Container) -> None:
        made.processes = {1: other.processes[1], 2: made.processes[1]}
        made.target_root = other.files.root

    @staticmethod
    def _fill(files: Files, image: Image, pod: Obj, made: Container) -> None:
        for path in _FOLDERS:
            files.put(path, Folder())
        for path in ("tmp", "var/tmp", "dev/shm"):
            files.put(path, Folder(mode=0o1777))
        for name, kind in _DEVICES.items():
            files.put(f"dev/{name}", Device(kind))
        for name in made.programs:
            if name not in SHELLS or name in image.shells:
                files.put(f"bin/{name}", Binary(name))
        user = made.user
        lines = {"root": "root:x:0:0:root:/root:/bin/sh"}
        lines |= {user.name: f"{user.name}:x:{user.uid}:{user.gid}::{user.home}:/bin/sh"}
        address = str(dig(pod, "status.podIP") or "127.0.0.1")
        namespace = meta(pod)["namespace"]
        domains = " ".join(f"{before}cluster.local" for before in (f"{namespace}.svc.", "svc.", ""))
        texts = {
            "hostname": made.hostname,
            "hosts": f"127.0.0.1\tlocalhost\n::1\tlocalhost\n{address}\t{made.hostname}",
            "resolv.conf": f"search {domains}\nnameserver 10.96.0.10\noptions ndots:5",
            "passwd": "\n".join(lines.values()),
            "group": "root:x:0:",
            "os-release": image.release.rstrip("\n"),
        }
        for name, text in texts.items():
            if text:
                files.put(f"etc/{name}", File(f"{text}\n".encode(errors="replace")))
        if made.main[0].startswith("/") and not made.programs:
            files.put(made.main[0], Binary("main"))
        files.put("proc", Volume(read=lambda: _proc(made)))


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _user(pod: Obj, declared: Obj) -> User:
    uid = dig(declared, "securityContext.runAsUser")
    uid = dig(pod, "spec.securityContext.runAsUser") if uid is None else uid
    if not isinstance(uid, int) or uid == 0:
        return User()
    gid = dig(pod, "spec.securityContext.runAsGroup")
    return User("app", uid, gid if isinstance(gid, int) else uid, "/")


def _proc(made: Container) -> Mapping[str, bytes | Node]:
    up = (datetime.now(UTC) - made.processes[1].started).total_seconds()
    free = MEMORY * 2 // 3
    texts = {
        "cpuinfo": "".join(
            f"processor\t: {n}\nvendor_id\t: GenuineIntel\nmodel name\t: Simulated CPU @ 2.60GHz\n\n"
            for n in range(PROCESSORS)
        ),
        "loadavg": "0.18 0.21 0.24 1/240 1\n",
        "meminfo": f"MemTotal: {MEMORY:15} kB\nMemFree: {free:16} kB\nMemAvailable: {free:11} kB\n",
        "mounts": "overlay / overlay rw,relatime 0 0\nproc /proc proc rw,nosuid,nodev,noexec 0 0\n"
        "tmpfs /dev tmpfs rw,nosuid 0 0\n",
        "uptime": f"{up:.2f} {up * PROCESSORS * 0.94:.2f}\n",
        "version": f"Linux version {RELEASE} (gcc) {VERSION}\n",
    }
    found: dict[str, bytes | Node] = {name: text.encode() for name, text in texts.items()}
    for pid, one in made.processes.items():
        line = "".join(f"{word}\0" for word in one.arguments)
        about = f"Name:\t{one.name}\nState:\tS (sleeping)\nPid:\t{pid}\nUid:\t{made.user.uid}\n"
        variables = "".join(f"{name}={value}\0" for name, value in one.environment.items())
        parts = {"cmdline": line, "comm": f"{one.name}\n", "status": about, "environ": variables}
        for name, text in parts.items():
            found[f"{pid}/{name}"] = text.encode(errors="surrogateescape")
    if made.target_root:
        found["1/root"] = made.target_root
    return found
