"""Image content derived from the image name: operating system, shells and default command."""

from collections.abc import Sequence
from dataclasses import dataclass

SHELLS = frozenset({"ash", "bash", "sh"})
_BUSYBOX = ""
_ALPINE = (
    'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.22.2\nPRETTY_NAME="Alpine Linux v3.22"\n'
    'HOME_URL="https://alpinelinux.org/"\n'
)
_DEBIAN = (
    'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nNAME="Debian GNU/Linux"\nVERSION_ID="13"\n'
    'VERSION="13 (trixie)"\nVERSION_CODENAME=trixie\nID=debian\nHOME_URL="https://www.debian.org/"\n'
)
_DISTROLESS = 'PRETTY_NAME="Distroless"\nNAME="Debian GNU/Linux"\nID="debian"\nVERSION_ID="13"\n'

# Words in image names of images without a shell.
_SHELL_LESS = (
    "distroless",
    "pause",
    "scratch",
    "static",
    "coredns",
    "etcd",
    "kube-apiserver",
    "kube-proxy",
    "kube-controller-manager",
    "kube-scheduler",
    "kube-state-metrics",
    "metrics-server",
    "cert-manager",
    "loki",
    "ledger",
    "gateway-adapter",
)
_SMALL = ("busybox", "prometheus", "alertmanager", "node-exporter")
# Images whose default command is a shell.
_TOOLS = ("busybox", "alpine", "debian", "ubuntu", "fedora", "bash", "netshoot", "toolbox")
_COMMANDS = {
    "nginx": ("nginx: master process nginx -g daemon off;",),
    "redis": ("redis-server *:6379",),
    "postgres": ("postgres",),
}


@dataclass(frozen=True, slots=True)
class Image:
    """Content of an image. `shells` are in order of preference. `command` is the default command."""

    release: str
    shells: tuple[str, ...]
    command: tuple[str, ...]


def image_named(reference: str) -> Image:
    path, _, tag = reference.partition("@")[0].rpartition("/")[2].partition(":")
    name = path or "app"
    words = f"{reference} {tag}"
    if any(word in words for word in _SHELL_LESS):
        return Image(_DISTROLESS, (), (f"/{name}",))
    command = ("sh",) if name in _TOOLS else _COMMANDS.get(name, (f"/usr/local/bin/{name}",))
    if any(word in words for word in _SMALL):
        return Image(_BUSYBOX, ("ash", "sh"), command)
    if "alpine" in words:
        return Image(_ALPINE, ("ash", "sh"), command)
    return Image(_DEBIAN, ("bash", "sh"), command)


def shell_of(command: Sequence[str]) -> Sequence[str]:
    """Return the command if it is an interactive shell, or an empty sequence.

    `nsenter` opens a shell on the node, which is simulated by the container's shell.
    """
    if command and command[0] == "nsenter":
        return ("sh",)
    return command if len(command) == 1 and command[0].rpartition("/")[2] in SHELLS else ()
