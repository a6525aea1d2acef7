"""Builds the programs of the control plane once, into a cache outside the repository.

The versions are pinned by the Go module `tools/`. The cache folder's name holds a hash of everything
that decides what is built, so a change of a pin never meets an old binary, and two checkouts with the
same pins share one build. A binary appears under its name only when it is complete, and a lock makes a
second process wait for the first instead of building the same thing beside it.

    python -m tests.controlplane.build [NAME ...]
"""

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.controlplane.component import GO

__all__ = ["TOOLS", "BuildError", "Report", "ensure", "find", "version_of"]

TOOLS_FOLDER = Path(__file__).parent / "tools"

#: Takes pieces of progress text; newlines are part of the text.
Report = Callable[[str], None]


class BuildError(Exception):
    """A program can be neither found nor built; the message is one line for a person."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One program."""

    name: str
    #: The Go package of its `main`.
    package: str
    #: The Go module whose version is the program's version.
    pinned: str
    #: What Go calls it: the last name of its package.
    built_as: str


def _kubernetes(name: str) -> Tool:
    package = f"k8s.io/kubernetes/cmd/{name}"
    return Tool(name=name, package=package, pinned="k8s.io/kubernetes", built_as=name)


_ETCD = "go.etcd.io/etcd/server/v3"
_KWOK = "sigs.k8s.io/kwok"
_ALL = (
    Tool(name="etcd", package=_ETCD, pinned=_ETCD, built_as="server"),
    _kubernetes("kube-apiserver"),
    _kubernetes("kube-controller-manager"),
    _kubernetes("kube-scheduler"),
    _kubernetes("kubectl"),
    _kubernetes("kubelet"),
    Tool(name="kwok", package=f"{_KWOK}/cmd/kwok", pinned=_KWOK, built_as="kwok"),
)
TOOLS = {tool.name: tool for tool in _ALL}

_FLAGS = (
    "-trimpath",
    "-buildvcs=false",
    "-mod=readonly",
    # Two packages at a time, which bounds the memory that compilers and linker take.
    "-p=2",
    # The linker drops debug tables anyway; not making them saves an eighth of the time.
    "-gcflags=all=-dwarf=false",
)
# Without cgo the programs are static, and no C compiler is needed.
_ENVIRONMENT = {"CGO_ENABLED": "0", "GOWORK": "off"}


def version_of(tool: Tool) -> str:
    """The pinned version, read from go.mod so that it is written in one place only."""
    text = (TOOLS_FOLDER / "go.mod").read_text()
    found = re.search(rf"^(?:require)?\s+{re.escape(tool.pinned)} (v\S+)", text, re.MULTILINE)
    if found is None:
        raise BuildError(f"tools/go.mod does not pin {tool.pinned}")
    return found.group(1)


def _linker_flags() -> str:
    """No debug tables, and the versions that the official builds stamp in."""
    version = version_of(TOOLS["kube-apiserver"])
    major, minor = version.removeprefix("v").split(".")[:2]
    stamps = {"sigs.k8s.io/kwok/pkg/consts.Version": version_of(TOOLS["kwok"])}
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        stamps[f"{package}.gitVersion"] = version
        stamps[f"{package}.gitMajor"] = major
        stamps[f"{package}.gitMinor"] = minor
        stamps[f"{package}.gitTreeState"] = "clean"
    return " ".join(["-s -w", *(f"-X {name}={value}" for name, value in stamps.items())])


def _cache_folder() -> Path:
    root = os.environ.get("QUARTERDECK_CACHE") or str(Path.home() / ".cache" / "quarterdeck")
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((TOOLS_FOLDER / name).read_bytes())
    settings = (sys.platform, platform.machine(), *_FLAGS, _linker_flags(), str(_ENVIRONMENT))
    digest.update("\n".join(settings).encode())
    name = f"kubernetes-{version_of(TOOLS['kube-apiserver'])}-{digest.hexdigest()[:12]}"
    return Path(root).absolute() / "controlplane" / name


def find(name: str) -> Path | None:
    """Where the program is, if it need not be built: `KUBEBUILDER_ASSETS` comes first."""
    folders = [_cache_folder()]
    if assets := os.environ.get("KUBEBUILDER_ASSETS"):
        folders.insert(0, Path(assets).absolute())
    for folder in folders:
        path = folder / name
        if os.access(path, os.X_OK):
            return path
    return None


def ensure(names: Iterable[str], report: Report) -> dict[str, Path]:
    """Where each program is, after building those that are missing."""
    wanted = [TOOLS[name] for name in names]
    found = _found(wanted)
    if len(found) < len(wanted):
        found |= _build([tool for tool in wanted if tool.name not in found], report)
    return {tool.name: found[tool.name] for tool in wanted}


def _found(tools: Iterable[Tool]) -> dict[str, Path]:
    return {tool.name: path for tool in tools if (path := find(tool.name))}


def _build(tools: Sequence[Tool], report: Report) -> dict[str, Path]:
    """All at once: one processor links the one, the others compile the next."""
    folder = _cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(f"cannot make the cache folder {folder}: {error.strerror}") from error
    with _locked(folder / ".lock", report):
        # Another process may have built some while this one waited.
        found = _found(tools)
        if missing := [tool for tool in tools if tool.name not in found]:
            report(f"building {_names(missing)} ... ")
            started = time.monotonic()
            _compile(missing, folder)
            report(f"{time.monotonic() - started:.0f} s\n")
    return found | {tool.name: folder / tool.name for tool in missing}


def _names(tools: Iterable[Tool]) -> str:
    return ", ".join(tool.name for tool in tools)


@contextmanager
def _locked(path: Path, report: Report) -> Iterator[None]:
    """The kernel drops this lock when its holder dies, so a killed build blocks nobody."""
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"waiting for another build in {path.parent}\n")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _compile(tools: Sequence[Tool], folder: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise BuildError(f"cannot build {_names(tools)}: there is no Go on this machine")
    unfinished = folder / f".unfinished.{os.getpid()}"
    log = folder / "build.log"
    command = [go, "build", *_FLAGS, f"-ldflags={_linker_flags()}", "-o", f"{unfinished}/"]
    try:
        with log.open("w") as said:
            done = subprocess.run(
                [*command, *(tool.package for tool in tools)],
                cwd=TOOLS_FOLDER,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode != 0:
            raise BuildError(f"cannot build {_names(tools)}: {_last_line(log)} (all of it: {log})")
        for tool in tools:
            (unfinished / tool.built_as).replace(folder / tool.name)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _environment() -> dict[str, str]:
    """The caller's, but for how the programs of tests are to run: a build has the whole machine."""
    return {name: value for name, value in os.environ.items() if name not in GO} | _ENVIRONMENT


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "go said nothing")


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main(names: list[str]) -> int:
    """Makes sure of the named programs, or of all; exit code 1 with one line if it cannot."""
    unknown = [name for name in names if name not in TOOLS]
    if unknown:
        sys.stderr.write(f"unknown: {' '.join(unknown)}; there are: {' '.join(TOOLS)}\n")
        return 2
    try:
        paths = ensure(names or TOOLS, _say)
    except BuildError as error:
        sys.stderr.write(f"\n{error}\n")
        return 1
    for name, path in paths.items():
        _say(f"{name} {path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
