"""Log links, for viewers who have permission to read logs."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy

from console.kube.gvr import PODS, Key
from console.ui.actions import Link, Permission
from console.ui.kind import ResourceKind
from console.ui.kubectl import kubectl, quoted
from console.ui.links import log_url

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
