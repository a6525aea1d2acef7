"""Security contexts of pods and containers."""

from contextlib import suppress
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.ui.wizard import fields
from console.ui.wizard.fields import Choice, Text
from console.ui.wizard.parts import FillButton, FormPart, Group
from console.ui.wizard.paths import Blocked, remove_at, value_at, write_at
from console.ui.wizard.state import FieldScope
from console.wizards.pod_paths import pod_of

#: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
_FOR_POD = {("runAsNonRoot",): True, ("seccompProfile",): {"type": "RuntimeDefault"}}
_FOR_CONTAINERS = {
    ("allowPrivilegeEscalation",): False,
    ("capabilities", "drop"): ["ALL"],
}
#: Settings of containers that the standard forbids, or that would replace the pod's.
_FORBIDDEN = ("privileged", "runAsNonRoot", "seccompProfile")


def _user_fields() -> tuple[FormPart, ...]:
    return (
        Group(
            pairs=True,
            parts=(
                fields.NumberInput(id="runAsUser", label=gettext_lazy("User ID")),
                fields.NumberInput(id="runAsGroup", label=gettext_lazy("Group ID")),
            ),
        ),
        fields.CheckBox(id="runAsNonRoot", label=gettext_lazy("Must not run as root")),
        fields.Select(
            id="seccomp",
            path=("seccompProfile", "type"),
            label=gettext_lazy("Seccomp profile"),
            choices=(
                Choice("", gettext_lazy("Default")),
                Choice("RuntimeDefault", gettext_lazy("Default of the container runtime")),
                Choice("Unconfined", gettext_lazy("Unconfined")),
            ),
        ),
        Group(
            pairs=True,
            parts=tuple(
                fields.TextInput(id=f"selinux-{name}", path=("seLinuxOptions", name), label=label)
                for name, label in (
                    ("level", gettext_lazy("SELinux level")),
                    ("role", gettext_lazy("SELinux role")),
                    ("type", gettext_lazy("SELinux type")),
                    ("user", gettext_lazy("SELinux user")),
                )
            ),
        ),
    )


def _container_now(scope: FieldScope) -> Text:
    if not scope.get():
        return _("From the pod and the image")
    if scope.get("privileged") is True:
        return _("Privileged: full access to the node")
    return _("Customized")


CONTAINER_SECURITY = Group(
    title=gettext_lazy("Security"),
    is_advanced=True,
    now=_container_now,
    path=("securityContext",),
    parts=(
        fields.CheckBox(id="privileged", label=gettext_lazy("Privileged")),
        fields.CheckBox(
            id="allowPrivilegeEscalation", label=gettext_lazy("No privilege escalation"), on=False
        ),
        fields.CheckBox(
            id="readOnlyRootFilesystem", label=gettext_lazy("Read-only root file system")
        ),
        *_user_fields(),
        fields.Words(
            id="capabilities-add",
            path=("capabilities", "add"),
            label=gettext_lazy("Add capabilities"),
            placeholder="NET_BIND_SERVICE",
        ),
        fields.Words(
            id="capabilities-drop",
            path=("capabilities", "drop"),
            label=gettext_lazy("Drop capabilities"),
            placeholder="ALL",
        ),
    ),
)


def _containers(pod: FieldScope) -> list[FieldScope]:
    return [
        pod.within((key, at))
        for key in ("containers", "initContainers")
        if isinstance(items := pod.get(key), list)
        for at, item in enumerate(items)
        if isinstance(item, dict)
    ]


def _restrict(scope: FieldScope) -> None:
    """Fill in what the Pod Security Standard *restricted* requires."""
    pod = pod_of(scope)

    def write(at: FieldScope, values: dict[Any, Any]) -> None:
        for path, value in values.items():
            # A value of an unexpected type is kept.
            with suppress(Blocked):
                write_at(at.document, (*at.base, "securityContext", *path), value)

    write(pod, _FOR_POD)
    for one in _containers(pod):
        for name in _FORBIDDEN:
            remove_at(one.document, (*one.base, "securityContext", name), len(one.base))
        write(one, _FOR_CONTAINERS)


def is_restricted(scope: FieldScope) -> bool:
    """Return True if all that `_restrict` fills in is set."""

    def holds(at: FieldScope, values: dict[Any, Any]) -> bool:
        context = at.get("securityContext")
        return all(value_at(context, path) == value for path, value in values.items())

    pod = pod_of(scope)
    return holds(pod, _FOR_POD) and all(
        holds(one, _FOR_CONTAINERS)
        and not any(one.has("securityContext", name) for name in _FORBIDDEN)
        for one in _containers(pod)
    )


POD_SECURITY = Group(
    title=gettext_lazy("Security"),
    hint=gettext_lazy("for all containers of a pod"),
    parts=(
        Group(
            path=("securityContext",),
            parts=(
                *_user_fields(),
                fields.NumberInput(
                    id="fsGroup",
                    label=gettext_lazy("Group of volumes"),
                    hint=gettext_lazy("Group ID that owns the files of volumes."),
                ),
            ),
        ),
        FillButton(
            id="restricted",
            label=gettext_lazy("Use restricted settings"),
            fill=_restrict,
            now=lambda scope: (
                _("The restricted settings are used.")
                if is_restricted(scope)
                else _(
                    "Sets what the Pod Security Standard “restricted” requires: not root, no "
                    "privilege escalation, no capabilities, the default seccomp profile."
                )
            ),
        ),
    ),
)
