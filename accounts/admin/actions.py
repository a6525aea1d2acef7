"""Immediate actions on a user: the write and the resulting revocations."""

from collections.abc import Mapping
from typing import Any, ClassVar

from asgiref.sync import sync_to_async
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accounts.admin.authority import CHANGE, administers, check_holds_no_more
from accounts.admin.forms import PasswordForm, ProfileForm, UserForm, profile_spec
from accounts.mfa import factors as factors
from accounts.mfa.factors import has_factor
from accounts.protection import attempts
from accounts.protection.attempts import user_locked_for
from accounts.protection.revocation import revocation_patch, revoke_all
from accounts.signin.new_passwords import busy_text, set_password
from accounts.signin.passwords import TooBusy
from accounts.time import now
from accounts.users.directory import trusted_users, wait_for_version
from accounts.users.states import ACTIVE, DISABLED, LOCKED, patch_user, state_status
from console.kube.apply import Manifest
from console.kube.gvr import GVR, Key
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.actions import (
    EVERYWHERE,
    Action,
    ActionContext,
    ActionSucceeded,
    Outcome,
    Permission,
)
from console.ui.core.clusters import HOST
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import Refused
from console.ui.core.subject import Subject

_ENDED = "EndedByAdministrator"


class OtherUserAction(Action):
    """Action that users can't run on their own account."""

    per_user = True

    def is_protected(self, access: Access, name: str) -> bool:
        return name == access.identity.name or super().is_protected(access, name)


class UserAction(Action):
    """Action that patches a User and calls `after` when kube-apiserver accepted the patch.

    `done` is the success message. `state` is the state to set; if it is empty, the patch makes
    every replica check the user's websockets. `reason` is the reason for revoking all sessions
    and tokens, or "" to keep them. If a user is disabled, `RevocationReconciler` revokes them a
    second time when the change arrives; the action does it before the administrator gets a
    response.

    An administrator whose permission comes from a platform role can change only users who don't
    hold more permissions than the administrator.
    """

    needs = (Permission("patch"),)
    state: ClassVar[str] = ""
    done: ClassVar[str | Promise]
    reason: ClassVar[str] = ""

    def is_protected(self, access: Access, name: str) -> bool:
        """Exempt users of other clusters. Accounts exist only on the host cluster, so a User of
        another cluster must not affect the host's user with the same name.
        """
        return access.cluster.name != HOST

    def applicable(self, entry: Entry[Any]) -> bool:
        return bool(entry.projection.state != DISABLED)

    def by_console(self, access: Access, gvr: GVR, key: Key) -> bool:
        return not self.is_protected(access, key.name) and administers(access, CHANGE, key.name)

    async def check(self, access: Access, gvr: GVR, key: Key) -> None:
        if not self.is_allowed(access, gvr, key):
            check_holds_no_more(access, key.name)

    async def write(self, context: ActionContext, user: Manifest) -> Manifest:
        """Patch the user and return the updated object. `user` contains only name and uid."""
        change = (
            {"status": state_status(self.state, now())} if self.state else revocation_patch(now())
        )
        return await patch_user(context.client, user, change, audit_id=context.audit_id)

    async def after(self, name: str) -> None:
        if self.reason:
            await revoke_all(name, self.reason, now())

    async def run(self, context: ActionContext) -> Outcome:
        name = context.key.name
        # Check again, because the user may have gained permissions since the page was opened.
        await UserAction.check(self, context.access, context.kind.gvr, context.key)
        user = {"metadata": {"name": name, "uid": context.uid}}
        written = await self.write(context, user)
        await wait_for_version(name, written["metadata"]["resourceVersion"])
        await self.after(name)
        return ActionSucceeded(self.done % context.message_values)


class Enable(OtherUserAction, UserAction):
    """Enable a user. Earlier failed attempts no longer count, because the state's transition time
    changes.
    """

    name, audit_verb = "enable", ("patch", "enable")
    label = pgettext_lazy("action", "Enable")
    weight = 3
    done = gettext_lazy("Enabled user %(name)s.")
    state, has_confirmation = ACTIVE, False
    places = EVERYWHERE

    def applicable(self, entry: Entry[Any]) -> bool:
        return bool(entry.projection.state == DISABLED)


class Disable(OtherUserAction, UserAction):
    name, audit_verb = "disable", ("patch", "disable")
    label = pgettext_lazy("action", "Disable")
    weight = 2
    done = gettext_lazy("Disabled user %(name)s. All sessions and tokens of the user have ended.")
    state, reason = DISABLED, _ENDED
    places = EVERYWHERE
    effect_text = gettext_lazy(
        "All sessions and tokens of the user end. Disabled users cannot sign in."
    )


class Unlock(UserAction):
    name, audit_verb = "unlock", ("patch", "unlock")
    label = pgettext_lazy("action", "Unlock")
    weight = 3
    done = gettext_lazy("Unlocked user %(name)s.")
    state, has_confirmation = ACTIVE, False
    places = frozenset()

    async def check(self, access: Access, gvr: GVR, key: Key) -> None:
        await super().check(access, gvr, key)
        entry = trusted_users().store.get(key)
        if entry is None or entry.projection.state == LOCKED:
            return
        if await user_locked_for(entry) is None:
            raise Refused(_("The user is not locked."))

    async def after(self, name: str) -> None:
        await sync_to_async(attempts.unlock)(name)


class EndSessions(UserAction):
    name, audit_verb = "end-sessions", ("patch", "end-sessions")
    label = gettext_lazy("End all sessions")
    done = gettext_lazy("Ended all sessions and tokens of user %(name)s.")
    reason = _ENDED
    places = EVERYWHERE
    title_text = gettext_lazy("%(action)s of %(kind)s %(name)s")
    effect_text = gettext_lazy(
        "All sessions and tokens of the user end. The user can sign in again."
    )

    def titles(self, kind: ResourceKind, total: str) -> str:
        words = {"action": self.label, "total": total, "nouns": kind.nouns}
        return _("%(action)s of %(total)s %(nouns)s") % words

    def button(self, kind: ResourceKind) -> str:
        return str(self.label)


class UserFormAction(UserAction):
    """Action with a form, available in every state of the user."""

    form: ClassVar[type[UserForm]]

    def applicable(self, entry: Entry[Any]) -> bool:
        return True

    def make_form(self, subject: Subject, data: QueryDict | None) -> UserForm:
        entry = subject.entry
        return self.form(data, user=entry.projection, initial=dict(self.initial(entry)))


class EditProfile(UserFormAction):
    name, audit_verb = "profile", ("patch", "profile")
    label = gettext_lazy("Edit profile")
    title_text = gettext_lazy("Edit the profile of %(kind)s %(name)s")
    button_text = gettext_lazy("Save")
    weight = 2
    done = gettext_lazy("Saved user %(name)s.")
    form = ProfileForm

    def initial(self, entry: Entry[Any]) -> Mapping[str, Any]:
        return entry.original().get("spec") or {}

    async def write(self, context: ActionContext, user: Manifest) -> Manifest:
        change = {"spec": profile_spec(context.data)}
        return await patch_user(context.client, user, change, audit_id=context.audit_id)


class ResetPassword(OtherUserAction, UserFormAction, EndSessions):
    """Set a new password without asking for the old one.

    Not available for the own account, so that an unattended browser can't be used to take over
    the account.
    """

    name, audit_verb = "password", ("patch", "password")
    label = gettext_lazy("Reset password")
    weight = 2
    done = gettext_lazy(
        "Reset the password of user %(name)s. All sessions and tokens of the user have ended."
    )
    reason = "PasswordReset"
    form = PasswordForm
    places = frozenset()

    async def write(self, context: ActionContext, user: Manifest) -> Manifest:
        data = context.data
        try:
            return await set_password(
                context.client, user, data["password"], now(),
                must_change=data["change"], audit_id=context.audit_id,
            )  # fmt: skip
        except TooBusy as error:
            raise Refused(busy_text()) from error


class ResetSecondFactor(OtherUserAction, EndSessions):
    name, audit_verb = "reset-second-factor", ("patch", "reset-second-factor")
    label = gettext_lazy("Reset second factor")
    done = gettext_lazy(
        "Reset the second factor of user %(name)s. All sessions and tokens of the user have ended."
    )
    places = frozenset()
    effect_text = gettext_lazy(
        "All sessions and tokens of the user end. The user can then sign in with only a password."
    )

    async def check(self, access: Access, gvr: GVR, key: Key) -> None:
        await super().check(access, gvr, key)
        entry = trusted_users().store.get(key)
        if entry is not None and not await has_factor(entry.projection):
            raise Refused(_("The user has no second factor."))

    async def after(self, name: str) -> None:
        await sync_to_async(factors.disable)(name)
        await super().after(name)
        await sync_to_async(attempts.unlock)(name)


#: Actions with empty `places` need data that list rows don't contain.
USER_ACTIONS = (
    EditProfile(),
    Enable(),
    Unlock(),
    Disable(),
    EndSessions(),
    ResetPassword(),
    ResetSecondFactor(),
)
