"""Select the container of a terminal, and check that it accepts input."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from console.actions.node_shell import CONTAINER, is_shell_pod
from console.kube.errors import NotFound
from console.kube.gvr import PODS, Key
from console.kube.store import Entry
from console.logs.containers import by_preference, container_named
from console.terminals.query import TerminalQuery
from console.ui.core.access import Access
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mappings_at, text
from console.ui.core.object_source import find_entry
from console.ui.core.permissions import Denied
from console.ui.core.podspecs import ContainerView, containers_of
from console.ui.core.text import escape_invisible
from console.views.actions import FIND_WAIT
from console.views.authorization import check_permission


@dataclass(frozen=True, slots=True)
class TerminalTarget:
    """The container of a terminal.

    `running`: choices for the user. `tty`, `reads`: the process has a TTY and reads stdin.
    `is_interactive_shell`: the process is an interactive shell, which is stopped with the
    terminal. `pod`: UID of a pod to delete when the terminal ends, "" to keep the pod.
    `problem`: translated reason why no terminal can be opened, "" if it can.
    """

    container: str
    running: Sequence[ContainerView] = ()
    tty: bool = True
    reads: bool = True
    is_interactive_shell: bool = True
    pod: str = ""
    problem: str = ""


async def find_target(
    kind: ResourceKind, access: Access, key: Key, query: TerminalQuery
) -> TerminalTarget:
    """Select the container. Raise `Denied`, `NotFound` or `NoContainer`."""
    if kind.gvr != PODS:
        raise NotFound(404, "")
    for right in query.rights:
        check_permission(right, access, PODS, key)
    try:
        entry = await find_entry(kind, access, key, seconds=FIND_WAIT)
    except Denied:
        # The user may be allowed to use exec without being allowed to get the pod.
        return TerminalTarget(query.container)
    if entry is None:
        raise NotFound(404, "")
    return _in_pod(entry, query)


def _in_pod(entry: Entry[Any], query: TerminalQuery) -> TerminalTarget:
    pod = entry.original()
    found = containers_of(pod)
    running = [one for one in found if one.since is not None]
    if query.container:
        chosen: ContainerView | None = container_named(found, query.container)
    else:
        chosen = next(iter(by_preference(pod, running)), None)
    if chosen is None:
        return TerminalTarget("", problem=_("No container in this pod is running."))
    if chosen.since is None:
        words = {"container": escape_invisible(query.container)}
        problem = _("Container %(container)s is not running.") % words
        return TerminalTarget(chosen.name, running, problem=problem)
    if not query.attach:
        return TerminalTarget(chosen.name, running)
    debugs = (text(one.get("name")) for one in mappings_at(pod, "spec", "ephemeralContainers"))
    shell = is_shell_pod(entry) and chosen.name == CONTAINER
    return TerminalTarget(
        chosen.name,
        running,
        tty=chosen.spec.get("tty") is True,
        reads=chosen.spec.get("stdin") is True,
        is_interactive_shell=shell or chosen.name in debugs,
        pod=entry.projection.uid if shell else "",
    )
