"""The User kind: user accounts."""

from collections.abc import Sequence
from typing import Any

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from accounts.admin.actions import USER_ACTIONS, OtherUserAction
from accounts.admin.authority import may_create
from accounts.admin.views import user_url
from accounts.users.assigned_roles import user_roles
from console.kube.gvr import USERS, Key
from console.kube.projections.tenancy import User
from console.kube.status import Severity, Status
from console.kube.store import Entry
from console.ui import lists
from console.ui.core.access import Access
from console.ui.core.action_texts import Fact, after_deletion_fact, text_fact
from console.ui.core.actions import Delete
from console.ui.core.clusters import HOST
from console.ui.core.kind import Nav, ResourceKind, Scope
from console.ui.core.registry import register
from console.ui.core.subject import Subject
from console.ui.forms.forms import ConsoleForm

_TERMINATING = Status(Severity.ENDING, gettext_noop("Terminating"))
#: Values of KubeSphere's `status.state`. "" means that the controller has not processed the user
#: yet, which KubeSphere displays as Pending.
_STATES = {
    "": Status(Severity.PROGRESS, gettext_noop("Waiting"), "Pending"),
    "Active": Status(Severity.OK, gettext_noop("Active")),
    "AuthLimitExceeded": Status(Severity.WARN, gettext_noop("Locked"), "AuthLimitExceeded"),
    "Disabled": Status(Severity.PAUSED, gettext_noop("Disabled")),
}


def status_of(user: User) -> Status:
    if user.deleted is not None:
        return _TERMINATING
    found = _STATES.get(user.state)
    return found or Status(Severity.UNKNOWN, gettext_noop("Unknown"), user.state)


class DeleteUser(OtherUserAction, Delete):
    def facts(self, kind: ResourceKind, entry: Entry[Any]) -> Sequence[Fact]:
        afterwards = _("the user cannot sign in; resources that the user created are kept")
        return [*kind.facts(entry), after_deletion_fact(afterwards)]

    async def extra_html(self, subject: Subject, form: ConsoleForm | None) -> SafeString:
        """List the roles and memberships that are deleted. Other clusters keep their bindings."""
        if subject.access.cluster.name != HOST:
            return SafeString("")
        found = user_roles(subject.access, subject.key.name, direct=True)
        return render_to_string("accounts/admin/deleted_roles.html", {"found": found})


@register
class UserKind(ResourceKind):
    gvr, scope, nav = USERS, Scope.CLUSTER, Nav("access", 10, "users")
    projection = User
    can_be_copied = False
    masked = (("spec", "password"),)
    title = gettext_lazy("Users")
    singular = gettext_lazy("user")
    nouns = gettext_lazy("users")
    severity_words = {
        Severity.WARN: gettext_lazy("Locked"),
        Severity.OK: gettext_lazy("Active"),
        Severity.PAUSED: gettext_lazy("Disabled"),
    }
    columns = (
        lists.TextColumn(id="email", label=gettext_lazy("Email"), priority=2),
        lists.StatusColumn(status=status_of),
        lists.ListColumn(id="groups", label=gettext_lazy("Departments"), priority=3, most=2),
        lists.BoolColumn(
            id="password",
            label=gettext_lazy("Has a password"),
            priority=3,
            get=lambda user: user.has_password,
        ),
    )
    search = lists.SearchFilter(
        covers=gettext_lazy("Name, email or department"),
        texts=lambda user: (user.email, *user.groups),
    )
    filters = (
        lists.FieldFilter(
            param="group", label=gettext_lazy("Department"), get=lambda user: user.groups
        ),
    )
    actions = (*USER_ACTIONS, DeleteUser())
    confirm_by_name = True

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        user: User = entry.projection
        return [text_fact(_("Email"), user.email)]

    def creatable(self, access: Access) -> bool:
        return may_create(access)

    def page_url(self, cluster: str, key: Key) -> str:
        """Return the URL of the account page. Only users of the host cluster have one."""
        return user_url(key.name) if cluster == HOST else ""

    def create_url(self, cluster: str, namespace: str) -> str:
        return reverse("access:new_account")
