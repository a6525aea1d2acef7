"""Doing as the console what somebody may do only within a workspace."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from django.http import HttpRequest
from django.utils.translation import gettext as _

from console.audit.trail import Recording, record, request_action
from console.kube.client import ConsoleClient
from console.kube.current import get_runtime
from console.kube.gvr import GVR, WORKSPACES, Key
from console.kube.identity import Identity, InvalidIdentity
from console.kube.projections.tenancy import Workspace
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.decisions import Refused
from workspaces.rights import WorkspaceRights, rights_in

#: Whom kube-apiserver sees.
CONSOLE = "quarterdeck-console"


class Overtaken(Refused):
    """Somebody else was first: what was seen is not so any more."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody who acts in a workspace."""

    request: HttpRequest
    access: Access
    workspace: str

    @property
    def name(self) -> str:
        return self.access.identity.name

    @property
    def rights(self) -> WorkspaceRights:
        return rights_in(self.access, self.workspace)

    def home(self) -> Workspace:
        """The workspace, if it is there to stay. Raises `Refused`."""
        found: Entry[Workspace] | None
        found = get_runtime().informer(WORKSPACES).store.get(Key("", self.workspace))
        if found is None or found.projection.deleted is not None:
            text = _("There is no workspace %(name)s any more.")
            raise Refused(text % {"name": self.workspace})
        return found.projection

    @asynccontextmanager
    async def as_console(
        self, verb: str, gvr: GVR, name: str, *, namespace: str = ""
    ) -> AsyncIterator[tuple[ConsoleClient, Recording]]:
        """One write, recorded before and after."""
        action = request_action(self.request, verb, gvr, namespace=namespace, name=name)
        async with record(replace(action, as_user=CONSOLE)) as recording:
            yield get_runtime().console, recording


def check_person(name: str) -> str:
    """The name of somebody who can be a member. Raises `Refused`."""
    try:
        return Identity(name).name
    except InvalidIdentity:
        raise Refused(_("This is not the name of a user.")) from None
