"""Which container an address means, and whether there is anything to type into."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from console.kube.errors import NotFound
from console.kube.gvr import PODS, Key
from console.kube.store import Entry
from console.logs.containers import named, preferred
from console.terminals.query import TerminalQuery
from console.ui.access import Access
from console.ui.decisions import Denied
from console.ui.kind import ResourceKind
from console.ui.manifests import listed, text
from console.ui.nodes.shell import CONTAINER, is_shell
from console.ui.podspecs import Container, containers_of
from console.ui.reading import find_entry
from console.ui.text import visible
from console.views.deciding import check_right

#: Seconds that a pod is waited for while none is known yet.
FIND_WAIT = 2.0


@dataclass(frozen=True, slots=True)
class Target:
    """`running`: the containers to choose from. `tty`, `reads`: what is asked of it has a terminal, and
    gets what is typed. `ours`: what runs there is a shell for people, to be ended with them. `pod`: the
    uid of the pod that is deleted then as well, "" for one that stays. `problem`: why nothing can be
    opened, "" if it can."""

    container: str
    running: Sequence[Container] = ()
    tty: bool = True
    reads: bool = True
    ours: bool = True
    pod: str = ""
    problem: str = ""


async def find_target(kind: ResourceKind, access: Access, key: Key, query: TerminalQuery) -> Target:
    """Raises `Denied`, `NotFound` and `NoContainer`."""
    if kind.gvr != PODS:
        raise NotFound(404, "")
    for right in query.rights:
        check_right(right, access, PODS, key)
    try:
        entry = await find_entry(kind, access, key, seconds=FIND_WAIT)
    except Denied:
        # They may do this alone, and know the names.
        return Target(query.container)
    if entry is None:
        raise NotFound(404, "")
    return _in_pod(entry, query)


def _in_pod(entry: Entry[Any], query: TerminalQuery) -> Target:
    pod = entry.original()
    found = containers_of(pod)
    running = [one for one in found if one.since is not None]
    if query.container:
        chosen: Container | None = named(found, query.container)
    else:
        chosen = next(iter(preferred(pod, running)), None)
    if chosen is None:
        return Target("", problem=_("No container of the pod runs now."))
    if chosen.since is None:
        words = {"container": visible(query.container)}
        problem = _("The container %(container)s does not run now.") % words
        return Target(chosen.name, running, problem=problem)
    if not query.attach:
        return Target(chosen.name, running)
    debugs = (text(one.get("name")) for one in listed(pod, "spec", "ephemeralContainers"))
    shell = is_shell(entry) and chosen.name == CONTAINER
    return Target(
        chosen.name,
        running,
        tty=chosen.spec.get("tty") is True,
        reads=chosen.spec.get("stdin") is True,
        ours=shell or chosen.name in debugs,
        pod=entry.projection.uid if shell else "",
    )
