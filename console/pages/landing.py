"""Start page of a user, and a contact for users without permissions."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from console.kube import gvr
from console.kube.factory import UnknownKind
from console.ui.core.access import Access
from console.ui.core.clusters import clusters
from console.ui.core.text import escape_invisible
from console.ui.navigation.level import may_see_platform
from console.ui.navigation.projects import visible_namespaces, visible_workspaces
from rbac.authorizer import is_admin_binding, is_usable

#: Seconds to wait for the list of workspaces if it isn't cached yet.
FIRST_LIST_WAIT = 2.0
#: Maximum number of administrators shown.
MAX_ADMINISTRATORS = 5


@dataclass(frozen=True, slots=True)
class AdministratorContact:
    """Contact for users without permissions. `wanted` is the text of a request to one of the
    administrators.
    """

    administrators: tuple[str, ...]
    wanted: str


async def landing_url(access: Access) -> str:
    """Return the URL of the start page for a user without a last visited page.

    `access` is the user's access to the host cluster.
    """
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
    """Return the names of the workspaces visible to the viewer."""
    runtime = access.cluster.runtime
    try:
        informer = runtime.informer(gvr.WORKSPACES)
    except UnknownKind:
        return ()
    if not informer.freshness.synced:
        await runtime.wait_synced(gvr.WORKSPACES, timeout=FIRST_LIST_WAIT)
    return visible_workspaces(access)


def _projects(access: Access) -> Iterator[tuple[str, str]]:
    """Yield cluster and name of each project visible to the viewer."""
    for cluster in clusters:
        there = access if cluster is access.cluster else cluster.access_for(access.identity)
        yield from ((cluster.name, namespace) for namespace in visible_namespaces(there))


def administrator_contact(access: Access) -> AdministratorContact:
    """Return the contact for a user without permissions."""
    words = {"who": escape_invisible(access.identity.name), "url": settings.BASE_URL}
    wanted = _("Please add %(who)s to a workspace or a project at %(url)s.") % words
    return AdministratorContact(
        tuple(escape_invisible(name) for name in _administrators(access)), wanted
    )


def _administrators(access: Access) -> list[str]:
    """Return users that are directly bound to the administrator role and may sign in."""
    runtime = access.cluster.runtime
    with suppress(UnknownKind):
        bindings = runtime.informer(gvr.GLOBAL_ROLE_BINDINGS).store.snapshot().entries.values()
        users = runtime.informer(gvr.USERS).store
        named = {
            subject.name
            for binding in bindings
            if is_admin_binding(binding.projection) and binding.projection.deleted is None
            for subject in binding.projection.subjects
            if subject.kind == "User"
        }
        known = (users.get(gvr.Key("", name)) for name in sorted(named))
        found = (one.key.name for one in known if one is not None and is_usable(one.projection))
        return list(islice(found, MAX_ADMINISTRATORS))
    return []
