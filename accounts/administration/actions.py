"""What can be done to a user at once: the write, and what ends or begins with it."""

from typing import Any, ClassVar

from asgiref.sync import sync_to_async
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accounts.directory import wait_for_version
from accounts.factors import register as factors
from accounts.factors.checking import has_factor
from accounts.protection import attempts
from accounts.protection.endings import end_everything, ended_patch
from accounts.protection.locks import locked_for
from accounts.states import ACTIVE, DISABLED, LOCKED
from accounts.time import now
from accounts.writing import patch_user, state_status
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.actions import EVERYWHERE, Action, Context, Done, Outcome, Permission
from console.ui.clusters import HOST
from console.ui.kind import ResourceKind


class OfOthers(Action):
    """Nobody does it to the account that they are logged in with."""

    per_viewer = True

    def exempt(self, access: Access, name: str) -> bool:
        return name == access.identity.name or super().exempt(access, name)


class UserAction(Action):
    """Writes the User, and does `after` once kube-apiserver has taken it. `state`: the one to be entered;
    with none, what is written makes every replica look again. `done` says what was done.

    By itself it ends all that the user has. Disabling ends it a second time when the change arrives, see
    `Endings`; here it is over before the administrator has an answer.
    """

    needs = (Permission("patch"),)
    places = EVERYWHERE
    state: ClassVar[str] = ""
    done: ClassVar[str | Promise]

    def exempt(self, access: Access, name: str) -> bool:
        """Accounts are on the host: a User of another cluster must not end what one there has."""
        return access.cluster.name != HOST

    def applicable(self, entry: Entry[Any]) -> bool:
        return bool(entry.projection.state != DISABLED)

    async def after(self, name: str) -> None:
        await end_everything(name, "EndedByAdministrator", now())

    async def run(self, context: Context) -> Outcome:
        name, time = context.key.name, now()
        user = {"metadata": {"name": name, "uid": context.uid}}
        patch = {"status": state_status(self.state, time)} if self.state else ended_patch(time)
        written = await patch_user(context.client, user, patch, audit_id=context.audit_id)
        await wait_for_version(name, written["metadata"]["resourceVersion"])
        await self.after(name)
        return Done(self.done % context.words)


class Enable(OfOthers, UserAction):
    """Failed attempts from before count no more, since this is a new beginning of the state."""

    name, trail = "enable", ("patch", "enable")
    label = pgettext_lazy("action", "Enable")
    done = gettext_lazy("Enabled user %(name)s.")
    state, asks = ACTIVE, False

    def applicable(self, entry: Entry[Any]) -> bool:
        return bool(entry.projection.state == DISABLED)

    async def after(self, name: str) -> None:
        """Nothing ends."""


class Disable(OfOthers, UserAction):
    name, trail = "disable", ("patch", "disable")
    label = pgettext_lazy("action", "Disable")
    done = gettext_lazy("Disabled user %(name)s. All sessions and tokens have ended.")
    state = DISABLED

    def effect(self, kind: ResourceKind) -> str:
        return _("All sessions and tokens end. Disabled users cannot log in.")


class Unlock(UserAction):
    name, trail = "unlock", ("patch", "unlock")
    label = pgettext_lazy("action", "Unlock")
    done = gettext_lazy("Unlocked user %(name)s.")
    state, asks = ACTIVE, False
    places = frozenset()

    async def available(self, entry: Entry[Any]) -> bool:
        is_locked = entry.projection.state == LOCKED or await locked_for(entry) is not None
        return is_locked and self.applicable(entry)

    async def after(self, name: str) -> None:
        await sync_to_async(attempts.forget)(name)


class EndSessions(UserAction):
    name, trail = "end-sessions", ("patch", "end-sessions")
    label = gettext_lazy("End all sessions")
    done = gettext_lazy("Ended all sessions and tokens of user %(name)s.")

    def title(self, kind: ResourceKind, name: str) -> str:
        words = {"action": self.label, "kind": kind.singular, "name": name}
        return _("%(action)s of %(kind)s %(name)s") % words

    def titles(self, kind: ResourceKind, total: str) -> str:
        words = {"action": self.label, "total": total, "nouns": kind.nouns}
        return _("%(action)s of %(total)s %(nouns)s") % words

    def button(self, kind: ResourceKind) -> str:
        return str(self.label)

    def effect(self, kind: ResourceKind) -> str:
        return _("All sessions and tokens end. Users can log in again.")


class ResetSecondFactor(OfOthers, EndSessions):
    name, trail = "reset-second-factor", ("patch", "reset-second-factor")
    label = gettext_lazy("Reset second factor")
    done = gettext_lazy(
        "Reset the second factor of user %(name)s. All sessions and tokens have ended."
    )
    places = frozenset()

    def effect(self, kind: ResourceKind) -> str:
        return _("All sessions and tokens end. The password alone is enough to log in again.")

    async def available(self, entry: Entry[Any]) -> bool:
        return self.applicable(entry) and await has_factor(entry.projection)

    async def after(self, name: str) -> None:
        await sync_to_async(factors.turn_off)(name)
        await super().after(name)
        await sync_to_async(attempts.forget)(name)


#: Those without places make sense by what only SQL knows.
USER_ACTIONS = (Enable(), Unlock(), Disable(), EndSessions(), ResetSecondFactor())
