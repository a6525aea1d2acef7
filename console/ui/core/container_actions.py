"""Links to logs and terminals, with their permissions and kubectl commands."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy

from console.kube.gvr import PODS, Key
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl, quoted
from console.ui.core.actions import Link, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.links import log_url, terminal_url

READ_LOG = Permission("get", "log")


class ShowLog(Link):
    """Link to the log of a pod."""

    name = "log"
    label = gettext_lazy("Logs")
    weight = 3
    dock = "log"
    needs = (READ_LOG,)

    def url(self, cluster: str, segment: str, key: Key) -> str:
        return log_url(cluster, segment, key)

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return kubectl(f"logs {quoted(key.name)}", key)


class ShowLogs(ShowLog):
    """Link to the combined log of all pods of an object."""

    needs = (Permission("get", "log", gvr=PODS),)

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return kubectl(f"logs {kind.gvr.qualified}/{quoted(key.name)} --all-pods", key)


def has_logs(kind: ResourceKind) -> bool:
    """Return True if objects of the kind are pods or select pods."""
    return ShowLog.name in kind.actions_by_name


#: Websocket requests use GET, and Kubernetes requires both permissions since 1.35.
EXEC = (Permission("create", "exec"), Permission("get", "exec"))
ATTACH = (Permission("create", "attach"), Permission("get", "attach"))


class OpenTerminal(Link):
    """Link to a shell in a container of a pod."""

    name = "terminal"
    label = gettext_lazy("Terminal")
    weight = 3
    dock = "terminal"
    needs = EXEC

    def applicable(self, entry: Entry[Any]) -> bool:
        return not entry.projection.ended

    def url(self, cluster: str, segment: str, key: Key) -> str:
        return terminal_url(cluster, segment, key)

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return exec_command(key)


def exec_command(key: Key, container: str = "", shell: str = "") -> str:
    """Return the kubectl command that opens a shell."""
    return kubectl(f"exec -it {_target(key, container)}", key) + f" -- {shell or 'sh'}"


def attach_command(key: Key, container: str = "") -> str:
    """Return the kubectl command that attaches to the running process."""
    return kubectl(f"attach -it {_target(key, container)}", key)


def _target(key: Key, container: str) -> str:
    return quoted(key.name) + (f" -c {quoted(container)}" if container else "")
