"""Builds the programs of the control plane once into a cache outside the repository.

The Go module `tools/` pins the versions, `tools-1.24/` those of an old Kubernetes, and
`tools-registry/` that of a container registry. The name of the cache folder of a module contains a
hash of all build inputs, so a changed version never uses an old binary, and checkouts with the same
versions share one build. A binary gets its name only when it is complete. A lock makes a second
process wait instead of building the same program concurrently.

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

__all__ = ["OLD", "TOOLS", "BuildError", "Report", "ensure", "find", "tools_folder", "version_of"]

#: The Go modules, by the suffix of their folders' names.
_CURRENT, OLD, _REGISTRY = "", "-1.24", "-registry"
#: The program of each module whose version is part of the name of its cache folder.
_MAIN = {_CURRENT: "kube-apiserver", OLD: f"kube-apiserver{OLD}", _REGISTRY: "registry"}

#: Callback for pieces of progress text, including newlines.
Report = Callable[[str], None]


class BuildError(Exception):
    """A program cannot be found or built. The message is one line for users."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A program of the control plane."""

    name: str
    #: Go package of the `main` function.
    package: str
    #: Go module whose version is the version of the program.
    pinned: str
    #: Name of the binary built by Go: the last element of the package path.
    built_as: str
    #: `_CURRENT`, `OLD` or `_REGISTRY`.
    module: str = _CURRENT

    @property
    def folder(self) -> Path:
        """Folder of the Go module."""
        return tools_folder(self.module)


def tools_folder(module: str = _CURRENT) -> Path:
    return Path(__file__).parent / f"tools{module}"


def _kubernetes(name: str, module: str = _CURRENT) -> Tool:
    package = f"k8s.io/kubernetes/cmd/{name}"
    return Tool(
        name=f"{name}{module}",
        package=package,
        pinned="k8s.io/kubernetes",
        built_as=name,
        module=module,
    )


_ETCD = "go.etcd.io/etcd/server/v3"
_KWOK = "sigs.k8s.io/kwok"
_DISTRIBUTION = "github.com/distribution/distribution/v3"
_ALL = (
    Tool(name="etcd", package=_ETCD, pinned=_ETCD, built_as="server"),
    _kubernetes("kube-apiserver"),
    _kubernetes("kube-controller-manager"),
    _kubernetes("kube-scheduler"),
    _kubernetes("kubectl"),
    _kubernetes("kubelet"),
    Tool(name="kwok", package=f"{_KWOK}/cmd/kwok", pinned=_KWOK, built_as="kwok"),
    _kubernetes("kube-apiserver", OLD),
    _kubernetes("kube-controller-manager", OLD),
    _kubernetes("kube-scheduler", OLD),
    Tool(
        name="registry",
        package=f"{_DISTRIBUTION}/cmd/registry",
        pinned=_DISTRIBUTION,
        built_as="registry",
        module=_REGISTRY,
    ),
)
TOOLS = {tool.name: tool for tool in _ALL}

_FLAGS = (
    "-trimpath",
    "-buildvcs=false",
    "-mod=readonly",
    # Build two packages at a time to limit the memory usage of compilers and linker.
    "-p=2",
    # The linker drops debug tables anyway. Not generating them reduces the build time by an eighth.
    "-gcflags=all=-dwarf=false",
)
#: Build tags of the modules: the cloud providers inside old Kubernetes take longer to build than the
#: rest.
_TAGS = {_CURRENT: (), OLD: ("-tags=providerless",), _REGISTRY: ()}
# Without cgo, the programs are static and no C compiler is needed.
_ENVIRONMENT = {"CGO_ENABLED": "0", "GOWORK": "off"}


def version_of(tool: Tool) -> str:
    """Return the pinned version from go.mod, the only place where versions are specified."""
    text = (tool.folder / "go.mod").read_text()
    found = re.search(rf"^(?:require)?\s+{re.escape(tool.pinned)} (v\S+)", text, re.MULTILINE)
    if found is None:
        raise BuildError(f"{tool.folder.name}/go.mod does not pin {tool.pinned}")
    return found.group(1)


def _linker_flags(module: str) -> str:
    """Return flags that omit debug tables and set the version variables of official builds."""
    if module == _REGISTRY:
        return "-s -w"
    version = version_of(TOOLS[_MAIN[module]])
    major, minor = version.removeprefix("v").split(".")[:2]
    stamps = {"sigs.k8s.io/kwok/pkg/consts.Version": version_of(TOOLS["kwok"])}
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        stamps[f"{package}.gitVersion"] = version
        stamps[f"{package}.gitMajor"] = major
        stamps[f"{package}.gitMinor"] = minor
        stamps[f"{package}.gitTreeState"] = "clean"
    return " ".join(["-s -w", *(f"-X {name}={value}" for name, value in stamps.items())])


def _cache_folder(module: str) -> Path:
    root = os.environ.get("QUARTERDECK_CACHE") or str(Path.home() / ".cache" / "quarterdeck")
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((tools_folder(module) / name).read_bytes())
    flags = (*_FLAGS, *_TAGS[module], _linker_flags(module))
    settings = (sys.platform, platform.machine(), *flags, str(_ENVIRONMENT))
    digest.update("\n".join(settings).encode())
    family = "registry" if module == _REGISTRY else "kubernetes"
    name = f"{family}-{version_of(TOOLS[_MAIN[module]])}-{digest.hexdigest()[:12]}"
    return Path(root).absolute() / "controlplane" / name


def find(name: str) -> Path | None:
    """Return the path of an existing program, or None. `KUBEBUILDER_ASSETS` has precedence."""
    folders = [_cache_folder(TOOLS[name].module)]
    if assets := os.environ.get("KUBEBUILDER_ASSETS"):
        folders.insert(0, Path(assets).absolute())
    for folder in folders:
        path = folder / name
        if os.access(path, os.X_OK):
            return path
    return None


def ensure(names: Iterable[str], report: Report) -> dict[str, Path]:
    """Build missing programs and return the paths of all programs."""
    wanted = [TOOLS[name] for name in names]
    found = _found(wanted)
    missing = [tool for tool in wanted if tool.name not in found]
    for module in dict.fromkeys(tool.module for tool in missing):
        found |= _build([tool for tool in missing if tool.module == module], report)
    return {tool.name: found[tool.name] for tool in wanted}


def _found(tools: Iterable[Tool]) -> dict[str, Path]:
    return {tool.name: path for tool in tools if (path := find(tool.name))}


def _build(tools: Sequence[Tool], report: Report) -> dict[str, Path]:
    """Build programs of one module in one command, so that linking and compiling overlap."""
    folder = _cache_folder(tools[0].module)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(f"cannot create the cache folder {folder}: {error.strerror}") from error
    with _locked(folder / ".lock", report):
        # Another process may have built some programs while this one waited for the lock.
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
    """Hold a file lock. The kernel releases it when the process dies, so a killed build blocks no
    other.
    """
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
        raise BuildError(f"cannot build {_names(tools)}: Go is not installed")
    unfinished = folder / f".unfinished.{os.getpid()}"
    log = folder / "build.log"
    module = tools[0].module
    flags = (*_FLAGS, *_TAGS[module], f"-ldflags={_linker_flags(module)}")
    command = [go, "build", *flags, "-o", f"{unfinished}/"]
    try:
        with log.open("w") as said:
            done = subprocess.run(
                [*command, *(tool.package for tool in tools)],
                cwd=tools[0].folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode != 0:
            raise BuildError(f"cannot build {_names(tools)}: {_last_line(log)} (full log: {log})")
        for tool in tools:
            (unfinished / tool.built_as).replace(folder / tool.name)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _environment() -> dict[str, str]:
    """Return the caller's environment without limits for test programs (GOGC, GOMAXPROCS), plus
    build settings.
    """
    return {name: value for name, value in os.environ.items() if name not in GO} | _ENVIRONMENT


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "go printed no output")


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main(names: list[str]) -> int:
    """Build the named programs, or all. Return exit code 1 and print one line if a build fails."""
    unknown = [name for name in names if name not in TOOLS]
    if unknown:
        sys.stderr.write(f"unknown program: {' '.join(unknown)}; available: {' '.join(TOOLS)}\n")
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
