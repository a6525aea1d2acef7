"""The way to logs, for those who may read them."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.kube.gvr import Key
from console.ui.actions import Link, Permission, kubectl
from console.ui.links import log_url

if TYPE_CHECKING:
    from console.ui.kind import ResourceKind

READ_LOG = Permission("get", "log")


@dataclass(frozen=True, kw_only=True)
class ShowLog(Link):
    """Leads to the log of a pod."""

    name: ClassVar[str] = "log"
    label: ClassVar[str | Promise] = gettext_lazy("Logs")
    needs: ClassVar[tuple[Permission, ...]] = (READ_LOG,)

    def url(self, cluster: str, segment: str, key: Key) -> str:
        return log_url(cluster, segment, key)

    def command(self, kind: "ResourceKind", key: Key, data: Mapping[str, Any]) -> str:
        return kubectl(f"logs {shlex.quote(key.name)}", key)
