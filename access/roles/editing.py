"""Pages that create and edit a role with the permission tree. They work without JavaScript.

The form contains the version that the user saw. If the role changed since then, it is not saved,
the input is kept, and the page lists the differences.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from access.roles.detail import role_view
from access.roles.forms import MAX_ID, RoleForm, further_text
from access.roles.labels import KINDS
from access.roles.lookup import (
    ROLES_ENTRY,
    ScopedRole,
    find_role,
    informer_of,
    is_allowed,
    level_of,
    list_url,
    role_crumbs,
    role_url,
)
from access.roles.tree import permission_tree, titles
from access.roles.writing import Escalation, UndoOffer, require_held, write
from console.kube.apply import Manifest
from console.kube.errors import ApiError, Conflict
from console.kube.gvr import Key
from console.kube.host_runtime import get_runtime
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.projections.roles import (
    ALIAS_ANNOTATION,
    CREATOR_ANNOTATION,
    DESCRIPTION_ANNOTATION,
)
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import posted
from console.views import problems
from console.views.errors import error_page
from console.views.guard import access_of
from console.views.page import page, success_redirect
from rbac.builtin import Origin
from rbac.catalogue import Template
from rbac.levels import TYPES, Level, RoleScope
from rbac.process_clusters import get_role_levels
from rbac.rule_descriptions import describe_rule, describe_rules
from rbac.rules import rules_to_json
from rbac.templates import AGGREGATION, rules_beyond_templates, template_names, templates_for

#: Maximum number of permissions in an error message.
MOST = 8


@page("GET", "POST", menu=ROLES_ENTRY)
async def new(request: ConsoleRequest, level: str) -> HttpResponse:
    """Create a role. Query parameters: `workspace` or `namespace` for its scope, `from` for a role
    to copy.
    """
    access = access_of(request)
    place = _place(request, level_of(level))
    gvr = TYPES[place.level].roles
    if not is_allowed(access, "create", gvr, place):
        raise Denied("create", gvr, place.namespace)
    known = templates_for(get_runtime(), place)
    prefix = f"{place.workspace}-" if place.workspace else ""
    form = RoleForm(posted(request), known, _initial_data(request, place, known), prefix=prefix)
    if _is_complete(request, form) and await create_role(request, place, form):
        words = {"kind": KINDS[place.level], "name": form.cleaned_data["name"]}
        url = role_url(place, form.cleaned_data["name"])
        return success_redirect(request, _("Created %(kind)s %(name)s.") % words, url)
    return _page(request, place, known, form)


@role_view("GET", "POST", verb="update")
async def edit(request: ConsoleRequest, found: ScopedRole) -> HttpResponse:
    if found.origin is not Origin.OWN:
        text = _("Only custom roles can be edited. Copy this role and edit the copy.")
        return error_page(request, 403, text)
    known = templates_for(get_runtime(), found.place)
    form = RoleForm(posted(request), known, _content(found, known))
    if _is_complete(request, form) and await save_role(request, found, form):
        words = {"kind": KINDS[found.place.level], "name": found.name}
        return success_redirect(request, _("Saved %(kind)s %(name)s.") % words, found.url)
    return _page(request, found.place, known, form, role=found)


def _is_complete(request: ConsoleRequest, form: RoleForm) -> bool:
    return "preview" not in request.POST and form.is_valid()


def _place(request: ConsoleRequest, level: Level) -> RoleScope:
    workspace, namespace = request.GET.get("workspace", ""), request.GET.get("namespace", "")
    if level is Level.WORKSPACE:
        if not workspace:
            raise Http404
        return RoleScope(level, workspace)
    if level is Level.PROJECT:
        if not namespace:
            raise Http404
        return RoleScope(level, "", namespace)
    return RoleScope(level)


def _initial_data(
    request: ConsoleRequest, place: RoleScope, known: Mapping[str, Template]
) -> dict[str, Any]:
    """Return the initial form data: the content of the role to copy if the viewer may see it, else
    empty.
    """
    source = request.GET.get("from", "")
    found = source and find_role(access_of(request), place.level, place.namespace, source)
    if not found or found.place != place:
        return {}
    return {**_content(found, known), "alias": ""}


def _content(found: ScopedRole, known: Mapping[str, Template]) -> dict[str, Any]:
    """Return the form data of an existing role."""
    names = template_names(found.annotations)
    chosen = tuple(name for name in known if name in names)
    return {
        "alias": found.entry.projection.alias,
        "description": found.entry.projection.description,
        "template": chosen,
        "further": further_text(rules_beyond_templates(found.rules, chosen, known)),
        "rules": found.rules,
    }


def _seen_version(request: ConsoleRequest, role: ScopedRole) -> tuple[str, str]:
    """Return the uid and version of the role that the user saw, or those of the current role for a
    GET request.
    """
    if request.method == "POST":
        return request.POST.get("uid", "")[:MAX_ID], request.POST.get("version", "")[:MAX_ID]
    return _version(role)


def _version(role: ScopedRole) -> tuple[str, str]:
    meta = role.entry.original()["metadata"]
    return meta["uid"], meta["resourceVersion"]


async def create_role(request: ConsoleRequest, place: RoleScope, form: RoleForm) -> bool:
    """Create the role and return True on success. Otherwise, add the error to the form. Raise
    `Denied`, `AuditUnavailable`.
    """
    types, creator = TYPES[place.level], access_of(request).identity.name
    name = form.cleaned_data["name"]
    meta = {
        "name": name,
        **({"namespace": place.namespace} if place.namespace else {}),
        "labels": {WORKSPACE_LABEL: place.workspace} if place.workspace else {},
        "annotations": {**_annotations(form), CREATOR_ANNOTATION: creator},
    }
    body = types.role(meta, rules_to_json(form.rules))
    offer = UndoOffer(_("created role %(name)s") % {"name": name}, place, name)
    try:
        require_held(request, place, name, form.rules)
        await write(request, types.roles, place, None, body, undo=offer)
    except Conflict:
        form.add_error("name", _("A role with this name already exists."))
    except (ApiError, Escalation) as error:
        _add_error(form, error)
    return not form.errors


async def save_role(request: ConsoleRequest, found: ScopedRole, form: RoleForm) -> bool:
    """Save the role and return True on success. Otherwise, add the error to the form. Raise
    `Denied`, `AuditUnavailable`.
    """
    place, before = found.place, found.entry.original()
    before = {**before, "rules": before.get("rules") or []}
    uid, version = _seen_version(request, found)
    body = _changed(before, form, uid, version)
    offer = UndoOffer(_("changed role %(name)s") % {"name": found.name}, place, found.name)
    # The cached role may be older than the one that the user saw.
    undo = offer if before["metadata"]["resourceVersion"] == version else None
    try:
        if form.rules != found.rules:
            require_held(request, place, found.name, form.rules)
        await write(request, TYPES[place.level].roles, place, before, body, undo=undo)
    except Conflict:
        form.status = 409
        form.add_error(None, _("Another user changed this role after you opened it."))
    except (ApiError, Escalation) as error:
        _add_error(form, error)
    return not form.errors


def _changed(before: Manifest, form: RoleForm, uid: str, version: str) -> Manifest:
    """Return the manifest with the input applied and other fields unchanged. It contains the
    version that the user saw, so that kube-apiserver refuses to overwrite a newer version.
    """
    meta = before["metadata"]
    annotations = {**(meta.get("annotations") or {}), **_annotations(form)}
    return {
        **before,
        "metadata": {
            **meta,
            "uid": uid,
            "resourceVersion": version,
            "annotations": {name: text for name, text in annotations.items() if text},
        },
        "rules": rules_to_json(form.rules),
    }


def _annotations(form: RoleForm) -> dict[str, str]:
    return {
        AGGREGATION: msgspec.json.encode(form.chosen).decode() if form.chosen else "",
        ALIAS_ANNOTATION: form.cleaned_data["alias"],
        DESCRIPTION_ANNOTATION: form.cleaned_data["description"],
    }


def _add_error(form: RoleForm, error: ApiError | Escalation) -> None:
    if isinstance(error, ApiError):
        problems.add_form_errors(error, form)
        return
    rights = "; ".join(describe_rule(rule) for rule in error.beyond[:MOST])
    left = len(error.beyond) - MOST
    text = _("You cannot grant permissions that you don't have: %(rights)s.")
    if left > 0:
        rights = _("%(things)s and %(left)s more") % {"things": rights, "left": left}
    form.add_error("template", text % {"rights": escape_invisible(rights)})


def _page(
    request: ConsoleRequest,
    place: RoleScope,
    known: Mapping[str, Template],
    form: RoleForm,
    role: ScopedRole | None = None,
) -> HttpResponse:
    # `page_status` validates the form, so it must be read before the results of the validation.
    status = form.page_status
    held = get_role_levels().held_rules(access_of(request).identity, place, acting=False)
    theirs = _latest(role) if role is not None and status == 409 else None
    seen = _seen_version(request, role) if role is not None else ("", "")
    if theirs is not None:
        # Saving again replaces the current version.
        seen = _version(theirs)
    context: dict[str, Any] = {
        "form": form,
        "role": role,
        "kind": KINDS[place.level],
        "crumbs": role_crumbs(access_of(request), place, role),
        "place": place,
        "seen": seen,
        "conflict": status == 409,
        "branches": permission_tree(known, form.chosen, held),
        "added": titles(form.added, known),
        "means": describe_rules(form.rules),
        "differences": _differences(theirs, form, known) if theirs is not None else (),
        "back": role.url if role is not None else list_url(place),
        "action": request.get_full_path(),
        "here": reverse("access:roles"),
    }
    return render(request, "access/roles/edit.html", context, status=status)


def _latest(role: ScopedRole) -> ScopedRole | None:
    entry = informer_of(TYPES[role.place.level].roles).store.get(
        Key(role.place.namespace, role.name)
    )
    return ScopedRole(role.place, entry) if entry is not None else None


def _differences(
    theirs: ScopedRole, form: RoleForm, known: Mapping[str, Template]
) -> Sequence[tuple[str, str]]:
    """Return label and current value of each part of the role that differs from the input."""
    now = _content(theirs, known)
    there, here = now["template"], form.chosen
    found = [
        (_("Only in the saved role: %(title)s"), [name for name in there if name not in here]),
        (_("Only in your changes: %(title)s"), [name for name in here if name not in there]),
    ]
    lines = [
        ("", text % {"title": title}) for text, names in found for title in titles(names, known)
    ]
    for name in ("alias", "description", "further"):
        typed = (form[name].value() or "").replace("\r\n", "\n")
        if now[name].strip() != typed.strip():
            lines.append((str(form[name].label), now[name].strip() or _("none")))
    return lines
