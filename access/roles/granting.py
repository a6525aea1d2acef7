"""Grant a role to a user or group, and revoke it, from the role's page."""

import hashlib
import re
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from access.roles.detail import is_manager_binding, role_page, role_view
from access.roles.editing import MOST
from access.roles.lookup import ScopedRole, informer_of, is_allowed, visible_holders
from access.roles.writing import Escalation, UndoOffer, require_bindable, write
from accounts.users.directory import users
from console.kube.errors import ApiError, Conflict
from console.kube.gvr import GVR, ROLE_BINDINGS, USERS, Key
from console.kube.host_runtime import get_runtime
from console.kube.identity import Identity, InvalidIdentity
from console.kube.indexes import indexes_of
from console.kube.names import is_dotted_name, is_label_name
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.projections.tenancy import GROUP_LABEL, USER_LABEL
from console.ui.core.permissions import Refused
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.views import problems
from console.views.guard import access_of
from console.views.page import success_redirect
from rbac.authorizer import PLATFORM_ADMIN, is_usable
from rbac.holders import RoleHolder, holders
from rbac.levels import TYPES, Level, RoleScope, subject_manifest, subjects_of
from rbac.names import department_name, member_name
from rbac.rule_descriptions import describe_rule

#: Maximum length of a binding's name that contains the subject unchanged.
_LONGEST_NAME = 202


class InvalidSubject(Refused):
    """The role cannot be granted to this subject."""

    page_code = 400


@role_view("POST", verb="create", of_bindings=True)
async def grant(request: ConsoleRequest, found: ScopedRole) -> HttpResponse:
    """Grant the role. POST parameters: `kind` (User or Group) and `subject` (the name)."""
    kind, subject = request.POST.get("kind", ""), request.POST.get("subject", "").strip()
    words = {"name": subject, "role": found.name}
    try:
        check_subject(request, found, kind, subject)
        await bind(request, found, kind, subject)
    except Refused as error:
        problem, status = str(error), error.page_code
    except Escalation as error:
        rights = "; ".join(describe_rule(rule) for rule in error.beyond[:MOST])
        text = _(
            "You cannot grant permissions that you don't have. This role also includes: %(rights)s."
        )
        problem, status = text % {"rights": rights}, 403
    except Conflict:
        problem, status = _("%(name)s already has this role.") % words, 409
    except ApiError as error:
        problem, status = problems.error_text(error), error.page_code
    else:
        text = _("%(name)s now has the role %(role)s.") % words
        return success_redirect(request, text, found.url)
    given = {"kind": kind, "subject": escape_invisible(subject)}
    return await role_page(request, found, error=problem, given=given, status=status)


@role_view("POST", verb="list", of_bindings=True)
async def revoke(request: ConsoleRequest, found: ScopedRole) -> HttpResponse:
    """Revoke the role. POST parameters as on the page: `binding`, `where` (its namespace) and
    `subject`.
    """
    wanted = tuple(request.POST.get(field, "") for field in ("where", "binding", "subject"))
    all_of_them = list(visible_holders(access_of(request), found))
    holding = next(
        (one for one in all_of_them if (one.namespace, one.binding, one.subject) == wanted), None
    )
    if holding is None:
        raise Refused(_("This role assignment no longer exists. Reload the page."))
    check_removable(found, holding, all_of_them)
    await unbind(request, found, holding)
    words = {"name": holding.name, "role": found.name}
    return success_redirect(
        request, _("%(name)s no longer has the role %(role)s.") % words, found.url
    )


def check_subject(request: ConsoleRequest, found: ScopedRole, kind: str, subject: str) -> None:
    """Raise `Refused` if the role cannot be granted to the subject."""
    if not found.is_grantable:
        raise InvalidSubject(
            _("Templates and derived roles cannot be assigned. Assign the original role instead.")
        )
    if kind not in ("User", "Group"):
        raise InvalidSubject(_("Choose a user or a group."))
    try:
        Identity("anybody", (subject,)) if kind == "Group" else Identity(subject)
    except InvalidIdentity:
        raise InvalidSubject(_("The name is empty or reserved by Kubernetes.")) from None
    access, words = access_of(request), {"name": escape_invisible(subject)}
    # The existence of users is not revealed to viewers who may not list users.
    if kind == "User" and access.can("list", USERS):
        entry = users().store.get(Key("", subject))
        if entry is None:
            raise InvalidSubject(_("User %(name)s not found.") % words)
        if not is_usable(entry.projection):
            raise InvalidSubject(_("User %(name)s is disabled.") % words)
    if found.place.level is not Level.WORKSPACE:
        return
    # Each subject has only one role in a workspace.
    bindings = TYPES[Level.WORKSPACE].bindings
    index = indexes_of(informer_of(bindings).store).by_label
    for other in index.get(f"{WORKSPACE_LABEL}={found.place.workspace}"):
        role = other.projection.role
        if role == found.name or f"{kind} {subject}" not in subjects_of(other.projection):
            continue
        text = _(
            "%(name)s already has a role in this workspace. Change the role on the Members page "
            "of the workspace."
        )
        if is_allowed(access, "list", bindings, found.place):
            text = _(
                "%(name)s already has the role %(role)s in this workspace. Change the role on the "
                "Members page of the workspace."
            )
        raise Refused(text % {**words, "role": escape_invisible(role)})


async def bind(
    request: ConsoleRequest, found: ScopedRole, kind: str, subject: str, *, first: bool = False
) -> None:
    """Create a binding of the role to the subject.

    Set `first` if the caller has just created the user, whose first role requires no further
    permission. Raise `Escalation`, `Denied`, `ApiError`, `AuditUnavailable`.
    """
    place, types = found.place, TYPES[found.place.level]
    for one in holders(get_runtime(), place, found.name):
        # A cluster role may also be held in single projects.
        project_only = place.level is Level.CLUSTER and one.namespace
        if one.subject == f"{kind} {subject}" and one.source is None and not project_only:
            raise Conflict(409, "already bound")
    require_bindable(request, place, found.name, found.rules)
    meta = {
        "name": _name_of_binding(place, kind, subject, found.name),
        **({"namespace": place.namespace} if place.namespace else {}),
        "labels": _labels(place, kind, subject),
    }
    body = types.binding(meta, found.name, [subject_manifest(kind, subject)])
    what = _("assigned role %(role)s to %(name)s") % {"role": found.name, "name": subject}
    offer = UndoOffer(what, place, found.name)
    await write(request, types.bindings, place, None, body, undo=offer, decided=first)


def _name_of_binding(place: RoleScope, kind: str, subject: str, role: str) -> str:
    """Return the name of the binding. In a workspace, it matches the name that the workspace pages
    use, so that kube-apiserver allows only one binding per subject.
    """
    if place.workspace and is_dotted_name(subject, _LONGEST_NAME):
        named = member_name if kind == "User" else department_name
        return named(place.workspace, subject)
    return binding_name(kind, subject, role)


def binding_name(kind: str, subject: str, role: str) -> str:
    """Return KubeSphere's name `<user>-<role>`, or a name with a hash if that is not a valid object
    name.
    """
    name = f"{subject}-{role}"
    if kind == "User" and is_dotted_name(name, _LONGEST_NAME):
        return name
    stem = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")[:180] or "role"
    digest = hashlib.sha256(f"{kind} {subject} {role}".encode()).hexdigest()[:8]
    return f"{stem}-{digest}"


def _labels(place: RoleScope, kind: str, subject: str) -> dict[str, str]:
    labels = {WORKSPACE_LABEL: place.workspace} if place.workspace else {}
    if is_label_name(subject):
        labels[USER_LABEL if kind == "User" else GROUP_LABEL] = subject
    return labels


def check_removable(found: ScopedRole, holding: RoleHolder, all_of_them: list[RoleHolder]) -> None:
    """Raise `Refused` if the binding must not be removed."""
    if holding.source is not None:
        raise Refused(
            _(
                "A controller created this assignment from another role. Remove the assignment of "
                "that role instead."
            )
        )
    if is_manager_binding(found, holding):
        text = _(
            "%(name)s is the manager of the workspace. Choose another manager in the workspace "
            "settings first."
        )
        raise Refused(text % {"name": holding.name})
    if found.place.level is not Level.GLOBAL or found.name != PLATFORM_ADMIN:
        return
    left = {one.name for one in all_of_them if one.kind == "User" and one != holding}
    store = users().store
    entries = (store.get(Key("", name)) for name in left)
    if not any(entry is not None and is_usable(entry.projection) for entry in entries):
        text = _(
            "This user is the last platform administrator. Assign the role to another user first."
        )
        raise Refused(text)


async def unbind(request: ConsoleRequest, found: ScopedRole, holding: RoleHolder) -> None:
    """Remove the subject from the binding. Raise `Denied`, `ApiError`, `AuditUnavailable`."""
    gvr: GVR = holding.gvr
    place = found.place
    if gvr == ROLE_BINDINGS and place.level is Level.CLUSTER:
        place = RoleScope(Level.PROJECT, "", holding.namespace)
    entry = informer_of(gvr).store.get(Key(holding.namespace, holding.binding))
    if entry is None:
        return
    before = entry.original()
    others = [one for one in before.get("subjects") or [] if not _is(one, holding)]
    after = {**before, "subjects": others} if others else None
    what = _("removed role %(role)s from %(name)s") % {"role": found.name, "name": holding.name}
    await write(request, gvr, place, before, after, undo=UndoOffer(what, found.place, found.name))


def _is(subject: Any, holding: RoleHolder) -> bool:
    if subject.get("kind") == "ServiceAccount":
        name = f"{subject.get('namespace') or ''}/{subject.get('name')}"
    else:
        name = str(subject.get("name"))
    return f"{subject.get('kind')} {name}" == holding.subject
