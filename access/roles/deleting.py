"""Deleting a role that nobody holds."""

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _

from access.roles.forms import MAX_ID
from access.roles.places import find_role, level_of, list_url, may
from access.roles.showing import nothing
from access.roles.undoing import clean, remember
from access.roles.words import KINDS
from access.roles.writing import write
from console.kube.client import ObjectClient
from console.kube.current import get_runtime
from console.kube.errors import ApiError
from console.ui.decisions import Denied
from console.ui.http import ConsoleRequest
from console.ui.text import visible
from console.views import problems
from console.views.errors import error_page
from console.views.guard import access_of
from console.views.page import page
from rbac.builtin import Origin
from rbac.holders import holders
from rbac.levels import TYPES

#: Holders that are named.
MOST = 20


@page("GET", "POST")
async def delete(
    request: ConsoleRequest, level: str, name: str, namespace: str = ""
) -> HttpResponse:
    """GET says what it means, POST (`uid`) does it. A role that somebody holds stays: bindings to nothing
    would give whatever the next role of the name says."""
    access = access_of(request)
    found = find_role(access, level_of(level), namespace, name)
    if found is None:
        return nothing(request, name)
    gvr, place = TYPES[found.place.level].roles, found.place
    if not may(access, "delete", gvr, place, name):
        raise Denied("delete", gvr, namespace)
    if found.origin is not Origin.OWN:
        return error_page(request, 403, _("This role is not yours to delete."))
    held = list(dict.fromkeys(one.name for one in holders(get_runtime(), place, name)))
    problem, status = "", 200
    if request.method == "POST" and held:
        status = 409
    elif request.method == "POST":
        uid = request.POST.get("uid", "")[:MAX_ID]

        async def do(client: ObjectClient, audit_id: str) -> None:
            await client.delete(
                gvr,
                namespace=place.namespace,
                name=name,
                uid=uid or "-",
                resource_version=found.entry.resource_version,
                audit_id=audit_id,
            )

        try:
            await write(request, "delete", gvr, place, name, do)
        except ApiError as error:
            problem, status = problems.words(error), error.page_code
        else:
            what = _("deleted role %(name)s") % {"name": name}
            before = clean(found.entry.original())
            await remember(request, what, (place, name), gvr, before=before, after=None)
            words = {"kind": KINDS[place.level], "name": name}
            messages.success(request, _("Deleted %(kind)s %(name)s.") % words)
            return HttpResponseRedirect(list_url(place))
    may_see = may(access, "list", TYPES[place.level].bindings, place)
    context = {
        "role": found,
        "kind": KINDS[place.level],
        "held": len(held),
        "names": [visible(one) for one in held[:MOST]] if may_see else [],
        "uid": found.entry.projection.uid,
        "error": problem,
    }
    return render(request, "access/roles/delete.html", context, status=status)
