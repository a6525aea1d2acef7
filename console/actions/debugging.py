"""Debug containers: an additional container in a running pod, with tools that the pod's own images
lack.

It is an ephemeral container like the one that `kubectl debug` creates:
https://kubernetes.io/docs/concepts/workloads/pods/ephemeral-containers/
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.actions.creation import LONGEST, new_name
from console.kube.cachewait import wait_for_cache
from console.kube.compatibility import EPHEMERAL_CONTAINERS, before, release_text
from console.kube.gvr import GVR, Key
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.action_texts import kubectl, quoted
from console.ui.core.actions import Action, ActionContext, Outcome, Permission
from console.ui.core.container_actions import ATTACH
from console.ui.core.kind import ResourceKind
from console.ui.core.links import container_startup_url
from console.ui.core.manifests import mappings_at
from console.ui.core.permissions import Refused
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import ChoiceField, ConsoleForm, TextField

#: Maximum length of a command in characters.
LONGEST_COMMAND = 1000
#: Security contexts like those of kubectl's profiles with these names. The first is kubectl's
#: default.
PROFILES: Mapping[str, Mapping[str, Any]] = {
    "general": {"capabilities": {"add": ["SYS_PTRACE"]}},
    "baseline": {},
    "restricted": {
        "runAsNonRoot": True,
        "capabilities": {"drop": ["ALL"]},
        "allowPrivilegeEscalation": False,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "netadmin": {"capabilities": {"add": ["NET_ADMIN", "NET_RAW"]}},
    "sysadmin": {"privileged": True},
}
_PROFILE_WORDS = {
    "general": gettext_lazy("general: can trace processes"),
    "baseline": gettext_lazy("baseline: same permissions as a regular container"),
    "restricted": gettext_lazy("restricted: non-root, no privileges"),
    "netadmin": gettext_lazy("netadmin: can change network settings"),
    "sysadmin": gettext_lazy("sysadmin: privileged, root on the node"),
}
_AT = "spec.ephemeralContainers[*]"


class ImageField(TextField):
    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=1000, **options)

    def clean(self, value: Any) -> str:
        found = str(super().clean(value))
        if any(character.isspace() for character in found):
            raise ValidationError(_("An image name cannot contain spaces."))
        return found


class DebugForm(ConsoleForm):
    """The form includes the container's name, so that submitting it twice creates one container
    only.
    """

    error_fields: Mapping[str, str] = {
        f"{_AT}.image": "image",
        f"{_AT}.targetContainerName": "target",
        f"{_AT}.securityContext": "profile",
        f"{_AT}.command": "command",
        f"{_AT}.name": "name",
    }
    image = ImageField(label=gettext_lazy("Image"))
    profile = ChoiceField(
        label=pgettext_lazy("debug container", "Profile"),
        help_text=gettext_lazy(
            "Permissions of the debug container. Policies of the project may be more restrictive."
        ),
        choices=[*_PROFILE_WORDS.items()],
    )
    command = TextField(
        label=gettext_lazy("Command"),
        help_text=gettext_lazy(
            "For example, sh. Leave empty to run the default command of the image."
        ),
        required=False,
        max_length=LONGEST_COMMAND,
    )
    name = TextField(label=gettext_lazy("Container name"), max_length=LONGEST)

    def __init__(
        self, data: QueryDict | None, targets: Sequence[str], initial: Mapping[str, Any]
    ) -> None:
        super().__init__(data, initial=initial)
        self.fields["target"] = ChoiceField(
            label=_("Target container"),
            help_text=_(
                "The debug container sees the processes of the target container and can access its "
                "files under /proc/1/root."
            ),
            choices=[
                *((one, one) for one in targets),
                ("", _("None: the debug container sees only its own processes")),
            ],
        )
        self.order_fields(("image", "target"))

    def clean_command(self) -> str:
        command: str = self.cleaned_data["command"]
        try:
            shlex.split(command)
        except ValueError as error:
            raise ValidationError(_("A quotation mark is missing.")) from error
        return command


class Debug(Action):
    """Add a debug container and attach to it. Requires both permissions."""

    name = "debug"
    label = pgettext_lazy("action", "Debug")
    button_text = gettext_lazy("Start debug container")
    effect_text = gettext_lazy(
        "A debug container starts in the pod and a terminal opens. Running containers are "
        "not affected. You can stop the debug container, but Kubernetes cannot remove a "
        "debug container from a pod: it stays listed until the pod is deleted."
    )
    needs = (Permission("patch", "ephemeralcontainers"), *ATTACH)

    def applicable(self, entry: Entry[Any]) -> bool:
        return entry.projection.deleted is None and not entry.projection.ended

    def is_offered(self, access: Access, entry: Entry[Any]) -> bool:
        return self.applicable(entry) and not _lacks_debug_containers(access)

    async def check(self, access: Access, gvr: GVR, key: Key) -> None:
        if _lacks_debug_containers(access):
            words = {"release": release_text(EPHEMERAL_CONTAINERS)}
            raise Refused(_("Debug containers require Kubernetes %(release)s.") % words)

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        targets = list(_targets(subject.entry.original()))
        initial = {
            "image": settings.DEBUG_IMAGE,
            "target": targets[0] if targets else "",
            "profile": next(iter(PROFILES)),
            "command": "",
            "name": new_name("debugger"),
        }
        return DebugForm(data, targets, initial)

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        options = {
            "image": data["image"],
            "container": data["name"],
            "target": data["target"],
            "profile": data["profile"],
        }
        words = [f"--{option}={quoted(value)}" for option, value in options.items() if value]
        line = kubectl(" ".join((f"debug {quoted(key.name)} -it", *words)), key)
        command = shlex.split(data["command"])
        return " ".join((line, "--", *map(quoted, command))) if command else line

    async def run(self, context: ActionContext) -> Outcome:
        container = _container(context.data)
        body = {"spec": {"ephemeralContainers": [container]}}
        made = await context.strategic_patch(body, "ephemeralcontainers")
        cluster, key = context.access.cluster, context.key
        pods = cluster.runtime.informer(context.kind.gvr)
        await wait_for_cache(pods, key, made["metadata"]["resourceVersion"])
        text = _("Added the debug container %(container)s to %(kind)s %(name)s.")
        url = container_startup_url(cluster.name, key, container["name"])
        return context.succeeded(text, url, container=escape_invisible(container["name"]))


def _lacks_debug_containers(access: Access) -> bool:
    return before(access.cluster.runtime.served.version, EPHEMERAL_CONTAINERS)


def _targets(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the containers that keep running, including sidecars."""
    sidecars = [
        one
        for one in mappings_at(manifest, "spec", "initContainers")
        if one.get("restartPolicy") == "Always"
    ]
    for found in (*mappings_at(manifest, "spec", "containers"), *sidecars):
        name = found.get("name")
        if isinstance(name, str) and name:
            yield name


def _container(data: Mapping[str, Any]) -> dict[str, Any]:
    rights, command = PROFILES[data["profile"]], shlex.split(data["command"])
    return {
        "name": data["name"],
        "image": data["image"],
        "stdin": True,
        "tty": True,
        **({"command": command} if command else {}),
        **({"securityContext": rights} if rights else {}),
        **({"targetContainerName": data["target"]} if data["target"] else {}),
    }
