"""Write operations that the console performs for users whose permissions are limited to a
workspace.
"""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from console.kube.apply import Manifest
from console.kube.gvr import GVR, USERS, WORKSPACES, Key
from console.kube.host_runtime import get_runtime
from console.kube.identity import Identity, InvalidIdentity
from console.kube.projections.tenancy import Workspace
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.permissions import Refused
from console.ui.core.requests import ConsoleRequest
from console.views.perform import perform
from rbac.authorizer import is_usable
from workspaces.rights import WorkspaceRights, workspace_rights

#: The username that kube-apiserver sees.
CONSOLE = "quarterdeck-console"


class ConcurrentChange(Refused):
    """Another user changed the object first."""


@dataclass(frozen=True, slots=True)
class Actor:
    """The user of a request and the workspace that the operation applies to."""

    request: ConsoleRequest
    access: Access
    workspace: str

    @property
    def name(self) -> str:
        return self.access.identity.name

    @property
    def rights(self) -> WorkspaceRights:
        return workspace_rights(self.access, self.workspace)

    def get_workspace(self) -> Workspace:
        """Return the workspace. Raise `Refused` if it does not exist or is being deleted."""
        found: Entry[Workspace] | None
        found = get_runtime().informer(WORKSPACES).store.get(Key("", self.workspace))
        if found is None or found.projection.deleted is not None:
            text = _("Workspace %(name)s no longer exists.")
            raise Refused(text % {"name": self.workspace})
        return found.projection

    async def as_console(
        self, verb: str, gvr: GVR, key: Key, body: Any = None, **options: Any
    ) -> Manifest:
        """Send one request with the console's identity. The caller checks the permission. The
        parameters are those of `perform`.
        """
        return await perform(
            self.request,
            *(verb, gvr, key, body),
            access=self.access,
            by_console=True,
            as_user=CONSOLE,
            **options,
        )

    async def as_user(
        self, verb: str, gvr: GVR, key: Key, body: Any = None, **options: Any
    ) -> Manifest:
        """Send one request with the user's identity. The parameters are those of `perform`."""
        return await perform(self.request, verb, gvr, key, body, access=self.access, **options)


def is_usable_user(name: str) -> bool:
    """Return True if the user exists and may sign in."""
    entry = get_runtime().informer(USERS).store.get(Key("", name))
    return entry is not None and is_usable(entry.projection)


def check_user_name(name: str) -> str:
    """Return the name if it is allowed for a member. Raise `Refused`."""
    try:
        return Identity(name).name
    except InvalidIdentity:
        raise Refused(_("This is not a valid username.")) from None
