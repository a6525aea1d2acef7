"""Where somebody begins, and whom to ask who may see nothing yet."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from console.kube.factory import UnknownKind
from console.kube.gvr import (
    GLOBAL_ROLE_BINDINGS,
    USERS,
    WORKSPACES,
    Key,
)
from console.ui.access import Access
from console.ui.clusters import clusters
from console.ui.level import may_see_platform
from console.ui.projects import visible_namespaces, visible_workspaces
from console.ui.text import visible
from rbac.authorizer import is_admin_binding, is_usable

#: Seconds that workspaces are waited for that nobody has followed yet.
FIRST_LIST_WAIT = 2.0
#: Administrators that are named.
MOST = 5


@dataclass(frozen=True, slots=True)
class Asking:
    """`wanted`: a request that can be sent to one of the administrators, if there are any."""

    administrators: tuple[str, ...]
    wanted: str


async def landing_url(access: Access) -> str:
    """Where somebody begins who was nowhere yet. `access`: their rights on the host."""
    if may_see_platform(access):
        return reverse("dashboard")
    workspaces = await _workspaces(access)
    if workspaces:
        one = len(workspaces) == 1
        return reverse("workspace", args=workspaces) if one else reverse("workspace_list")
    projects = list(islice(_projects(access), 2))
    if len(projects) == 1:
        return reverse("project_overview", args=projects[0])
    return reverse("dashboard")


async def _workspaces(access: Access) -> tuple[str, ...]:
    """Those that the viewer may see."""
    runtime = access.cluster.runtime
    try:
        informer = runtime.informer(WORKSPACES)
    except UnknownKind:
        return ()
    if not informer.freshness.synced:
        await runtime.wait_synced(WORKSPACES, timeout=FIRST_LIST_WAIT)
    return visible_workspaces(access)


def _projects(access: Access) -> Iterator[tuple[str, str]]:
    """Cluster and name of those in which the viewer may see something."""
    for cluster in clusters:
        there = access if cluster is access.cluster else cluster.access_for(access.identity)
        yield from ((cluster.name, namespace) for namespace in visible_namespaces(there))


def asking(access: Access) -> Asking:
    """For somebody who may see nothing."""
    words = {"who": visible(access.identity.name), "url": settings.BASE_URL}
    wanted = _("Please add %(who)s to a workspace or a project at %(url)s.") % words
    return Asking(tuple(visible(name) for name in _administrators(access)), wanted)


def _administrators(access: Access) -> list[str]:
    """Users who administer the platform by their own name, as far as they may sign in."""
    runtime = access.cluster.runtime
    with suppress(UnknownKind):
        bindings = runtime.informer(GLOBAL_ROLE_BINDINGS).store.snapshot().entries.values()
        users = runtime.informer(USERS).store
        named = {
            subject.name
            for binding in bindings
            if is_admin_binding(binding.projection) and binding.projection.deleted is None
            for subject in binding.projection.subjects
            if subject.kind == "User"
        }
        known = (users.get(Key("", name)) for name in sorted(named))
        found = (one.key.name for one in known if one is not None and is_usable(one.projection))
        return list(islice(found, MOST))
    return []
