"""Node shell: a privileged pod that runs a login shell of the node's operating system.

Users who may create such pods have root access to the node anyway. This action adds a single
button, an audit record and automatic cleanup. It is disabled unless `NODE_SHELL_NAMESPACE` names
the namespace for the pods.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.creation import LONGEST, new_name
from console.kube.cachewait import wait_for_cache
from console.kube.errors import ObjectRecreated
from console.kube.gvr import GVR, NAMESPACES, PODS, Key
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.action_texts import kubectl_create
from console.ui.core.actions import Action, ActionContext, Outcome, Permission
from console.ui.core.container_actions import ATTACH
from console.ui.core.kind import ResourceKind
from console.ui.core.links import container_startup_url
from console.ui.core.permissions import Refused
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.panels import NOTHING, Panel
from console.ui.forms.forms import ConsoleForm, TextField

#: Label of pods that are deleted when their terminal closes, and its value for node shells.
LABEL, NODE_SHELL = "quarterdeck.io/shell", "node"
CONTAINER = "shell"
#: Maximum lifetime of the pod, enforced by the kubelet.
MAX_LIFETIME = timedelta(hours=4)
#: Seconds to wait for a terminal to attach.
ATTACH_TIMEOUT = 300
#: Enters all namespaces of the node's first process.
_ENTER = ("nsenter", "-t", "1", "-m", "-u", "-i", "-n", "-p", "--")


def shell_namespace() -> str:
    """Return the namespace for node shell pods, or "" if node shells are disabled."""
    return str(settings.NODE_SHELL_NAMESPACE)


def is_shell_pod(pod: Entry[Any]) -> bool:
    """Return True if the pod is deleted when its terminal closes."""
    return (
        bool(shell_namespace())
        and pod.key.namespace == shell_namespace()
        and LABEL in pod.projection.labels
    )


class NodeShellForm(ConsoleForm):
    """The form includes the pod's name, so that submitting it twice creates one pod only."""

    error_fields: Mapping[str, str] = {"metadata.name": "name"}
    name = TextField(label=gettext_lazy("Pod name"), max_length=LONGEST)


class NodeShell(Action):
    name = "shell"
    label = gettext_lazy("Open shell")
    title_text = gettext_lazy("Open a shell on %(kind)s %(name)s")
    weight = 2
    needs = (
        Permission("create", gvr=PODS, place=shell_namespace),
        Permission("get", gvr=PODS, place=shell_namespace),
        *(replace(one, gvr=PODS, place=shell_namespace) for one in ATTACH),
    )
    danger = True
    form = NodeShellForm

    def is_protected(self, access: Access, name: str) -> bool:
        return not shell_namespace()

    async def check(self, access: Access, gvr: GVR, key: Key) -> None:
        found = access.cluster.runtime.informer(NAMESPACES)
        if found.freshness.synced and found.store.get(Key("", shell_namespace())) is None:
            text = _(
                "Could not open a shell: project %(name)s, in which the pods of node shells run, "
                "does not exist."
            )
            raise Refused(text % {"name": escape_invisible(shell_namespace())})

    def effect(self, kind: ResourceKind) -> str | Promise:
        text = _(
            "A privileged pod starts on the node in project %(project)s, and a terminal opens in "
            "which you are root on the node. The pod is deleted when the terminal closes, or "
            "after %(hours)s hours at the latest."
        )
        return text % {
            "project": escape_invisible(shell_namespace()),
            "hours": MAX_LIFETIME // timedelta(hours=1),
        }

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        return [
            _(
                "A node shell has no restrictions: you can view and change everything that runs on "
                "the node, including the pods and Secrets of all projects. Kubernetes does not "
                "record what you type."
            )
        ]

    def initial(self, entry: Entry[Any]) -> Mapping[str, Any]:
        return {"name": new_name(f"shell-{entry.key.name}")}

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return kubectl_create(_pod(data["name"], key.name), Key(shell_namespace(), data["name"]))

    async def run(self, context: ActionContext) -> Outcome:
        cluster, name = context.access.cluster, context.data["name"]
        node = cluster.runtime.informer(context.kind.gvr).store.get(context.key)
        if node is None or node.projection.uid != context.uid:
            raise ObjectRecreated
        pod = Key(shell_namespace(), name)
        made = await context.client.create(
            PODS, _pod(name, context.key.name), namespace=pod.namespace, audit_id=context.audit_id
        )
        pods = cluster.runtime.informer(PODS)
        await wait_for_cache(pods, pod, made["metadata"]["resourceVersion"])
        text = _("Created pod %(pod)s for a shell on %(kind)s %(name)s.")
        url = container_startup_url(cluster.name, pod, CONTAINER)
        return context.succeeded(text, url, pod=escape_invisible(name))


@dataclass(frozen=True, kw_only=True)
class NodeShellPanel(Panel):
    """The reason why node shells are unavailable, and how to enable them.

    Shown only to users who may create pods in every project.
    """

    id: str = "shell"
    title: str | Promise = gettext_lazy("Node shell")
    place: Literal["above", "left", "right"] = "right"

    def html(self, subject: Subject) -> SafeString:
        access, kind, shell = subject.access, subject.kind, NodeShell()
        if not access.can("create", PODS):
            return NOTHING
        missing = shell.missing(access, kind.gvr, subject.key)
        if shell_namespace() and missing is None:
            return NOTHING
        context = {
            "namespace": shell_namespace(),
            "verb": missing.verb if missing else "",
            "resource": "/".join(
                filter(None, (PODS.resource, missing.subresource if missing else ""))
            ),
        }
        return render_to_string("ui/panels/node_shell.html", context)


def _command() -> list[str]:
    """Return the command that starts a login shell after a terminal has attached, which is detected
    by its size.
    """
    waits = (
        'i=0; while command -v stty >/dev/null; do case "$(stty size 2>/dev/null)" in [1-9]*) break;; '
        f"esac; [ $i -lt {ATTACH_TIMEOUT} ] || exit 0; i=$((i+1)); sleep 1; done"
    )
    return [*_ENTER, "sh", "-c", f'{waits}; exec "$(command -v bash || command -v sh)" -l']


def _pod(name: str, node: str) -> dict[str, Any]:
    container = {
        "name": CONTAINER,
        "image": settings.NODE_SHELL_IMAGE,
        "command": _command(),
        "stdin": True,
        "tty": True,
        "securityContext": {"privileged": True},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {LABEL: NODE_SHELL}},
        "spec": {
            "nodeName": node,
            "hostPID": True,
            "hostIPC": True,
            "hostNetwork": True,
            "restartPolicy": "Never",
            "activeDeadlineSeconds": int(MAX_LIFETIME.total_seconds()),
            # Shells ignore SIGTERM.
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "tolerations": [{"operator": "Exists"}],
            "containers": [container],
        },
    }
