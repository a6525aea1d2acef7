"""Files of pods: the time zone of the node, and log files that KubeSphere collects."""

import json
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import NAMESPACES
from console.ui.wizard import fields
from console.ui.wizard.fields import BoundField, InvalidInput
from console.ui.wizard.parts import Group
from console.ui.wizard.paths import ABSENT, Path, remove_at, write_at
from console.ui.wizard.state import FieldScope
from console.wizards.pod_paths import pod_of

#: Volume and mount of the node's time zone, with KubeSphere's name.
_VOLUME, _FILE = "host-time", "/etc/localtime"
LOG_FILES = "logging.kubesphere.io/logsidecar-config"
_COLLECTS = "logging.kubesphere.io/logsidecar-injection"


@dataclass(frozen=True, kw_only=True)
class HostTime(fields.CheckBox):
    """A checkbox that mounts the node's time zone. It must come after the mounts."""

    def is_set(self, scope: FieldScope) -> bool:
        mounts = scope.mappings("volumeMounts")
        return any(one.get("mountPath") == _FILE for one in mounts)

    def bind(self, scope: FieldScope) -> BoundField:
        return BoundField(
            field=self,
            name=f"{scope.prefix}{self.id}",
            path=(*scope.base, "volumeMounts"),
            slot=scope.slot,
            value="on" if self.is_set(scope) else "",
        )

    def apply(self, scope: FieldScope) -> None:
        state, post = scope.state, scope.state.post or QueryDict()
        given = self.posted(post, f"{scope.prefix}{self.id}")
        # A removed mount must not return because the checkbox was still checked.
        if given is None or state.act.startswith(f"{scope.prefix}volumeMounts."):
            return
        if (given == "on") != self.is_set(scope):
            self._mount(scope) if given == "on" else self._unmount(scope)

    def _mount(self, scope: FieldScope) -> None:
        pod, mounts = pod_of(scope), scope.get("volumeMounts")
        volumes = pod.get("volumes")
        if not all(one is ABSENT or isinstance(one, list) for one in (mounts, volumes)):
            return
        mount = {"name": _VOLUME, "mountPath": _FILE, "readOnly": True}
        write_at(scope.document, (*scope.base, "volumeMounts"), [*(mounts or ()), mount])
        if not any(one.get("name") == _VOLUME for one in pod.mappings("volumes")):
            volume = {"name": _VOLUME, "hostPath": {"path": _FILE}}
            write_at(scope.document, (*pod.base, "volumes"), [*(volumes or ()), volume])

    def _unmount(self, scope: FieldScope) -> None:
        pod = pod_of(scope)
        _keep(scope, "volumeMounts", lambda one: one.get("mountPath") != _FILE)
        containers = [*pod.mappings("containers"), *pod.mappings("initContainers")]
        mounted = [one.get("volumeMounts") for one in containers]
        if not any(_VOLUME in str(one) for one in mounted):
            _keep(pod, "volumes", lambda one: one.get("name") != _VOLUME)

    def strip(self, scope: FieldScope) -> None:
        return


def _keep(scope: FieldScope, key: str, wanted: Any) -> None:
    """Keep the wanted mappings of a list."""
    held = scope.get(key)
    left = [one for one in held if not isinstance(one, dict) or wanted(one)] if held else []
    path = (*scope.base, key)
    if left:
        write_at(scope.document, path, left)
    else:
        remove_at(scope.document, path, scope.floor)


HOST_TIME = HostTime(
    id="hostTime",
    label=gettext_lazy("Use the time zone of the node"),
    hint=gettext_lazy("Mounts /etc/localtime of the node."),
)


@dataclass(frozen=True, kw_only=True)
class LogFiles(fields.TextArea):
    """Log files that KubeSphere's log sidecar collects: container, volume and path in each line."""

    def shown(self, value: Any) -> str | None:
        if value is ABSENT:
            return ""
        try:
            found = json.loads(value) if isinstance(value, str) else None
            configs = found["containerLogConfigs"] if isinstance(found, dict) else {}
            lines = [
                f"{container} {volume} {path}"
                for container, volumes in configs.items()
                for volume, paths in volumes.items()
                for path in paths
            ]
            text = "\n".join(lines)
            return text if text and self.parsed(text) == value else None
        except (ValueError, LookupError, AttributeError, TypeError, RecursionError, InvalidInput):
            return None

    def parsed(self, text: str) -> Any:
        configs: dict[str, dict[str, list[str]]] = {}
        for line in text.splitlines():
            words = line.split()
            if not words:
                continue
            if len(words) != 3:  # noqa: PLR2004
                raise InvalidInput(_("Enter container, volume and path in each line."))
            container, volume, path = words
            configs.setdefault(container, {}).setdefault(volume, []).append(path)
        found = {"containerLogConfigs": configs}
        return json.dumps(found, separators=(",", ":")) if configs else ABSENT


def _collects_files(scope: FieldScope) -> bool:
    context = scope.state.context
    return scope.has(LOG_FILES) or any(
        entry.key.name == context.namespace and entry.projection.labels.get(_COLLECTS) == "enabled"
        for entry in context.entries(NAMESPACES)
    )


def log_files(pod: Path) -> Group:
    """Return the field for log files, in projects that collect them."""
    return Group(
        title=gettext_lazy("Log files"),
        path=(*pod[:-1], "metadata", "annotations"),
        shown_if=_collects_files,
        parts=(
            LogFiles(
                id="logFiles",
                path=(LOG_FILES,),
                label=gettext_lazy("Collected log files"),
                hint=gettext_lazy(
                    "Container, volume and path in each line, such as: app logs /var/log/app/*.log"
                ),
                rows=3,
            ),
        ),
    )
