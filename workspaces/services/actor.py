"""Write operations that the console performs for users whose permissions are limited to a
workspace.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from django.http import HttpRequest
from django.utils.translation import gettext as _

from console.audit.trail import AuditEntry, record, request_action
from console.kube.clients import ConsoleClient
from console.kube.gvr import GVR, WORKSPACES, Key
from console.kube.host_runtime import get_runtime
from console.kube.identity import Identity, InvalidIdentity
from console.kube.projections.tenancy import Workspace
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.permissions import Refused
from workspaces.rights import WorkspaceRights, workspace_rights

#: The user name that kube-apiserver sees.
CONSOLE = "quarterdeck-console"


class ConcurrentChange(Refused):
    """Another user changed the object first."""


@dataclass(frozen=True, slots=True)
class Actor:
    """The user of a request and the workspace that the operation applies to."""

    request: HttpRequest
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

    @asynccontextmanager
    async def as_console(
        self, verb: str, gvr: GVR, name: str, *, namespace: str = ""
    ) -> AsyncIterator[tuple[ConsoleClient, AuditEntry]]:
        """Return a client for one write. The write is recorded in the audit log before and after."""
        action = request_action(self.request, verb, gvr, namespace=namespace, name=name)
        async with record(replace(action, as_user=CONSOLE)) as recording:
            yield get_runtime().console, recording


def check_user_name(name: str) -> str:
    """Return the name if it is allowed for a member. Raise `Refused`."""
    try:
        return Identity(name).name
    except InvalidIdentity:
        raise Refused(_("This is not a valid username.")) from None
