"""The values of one Secret, for whoever asks to see them.

Promises: they are read as the viewer at that moment, and are in this one answer, which nobody keeps. The
audit trail has who asked before anything is read. The right is decided before anything is looked up, and
never on rights that nobody can confirm now.
"""

import asyncio
from typing import Any

import msgspec
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from console.audit.trail import AuditUnavailable, record, request_action
from console.kube.errors import ApiError, NotFound
from console.kube.gvr import Key
from console.ui.access import Access
from console.ui.actions import Reveal
from console.ui.clusters import Cluster
from console.ui.decisions import lacking
from console.ui.http import ConsoleRequest
from console.ui.kind import NAV_GROUPS, ResourceKind
from console.ui.links import detail_url, list_url
from console.ui.panels.yaml import LARGEST
from console.ui.places import find_kind
from console.ui.revealed import values
from console.ui.text import visible
from console.ui.yamltext import yaml_text
from console.views import problems
from console.views.delete import is_in_doubt
from console.views.denial import denied_page
from console.views.errors import error_page
from console.views.guard import access_of, refuse_anonymous

#: Seconds after which the browser leaves the page by itself.
SHOWN = 60


@require_POST
async def reveal(
    request: ConsoleRequest, cluster: Cluster, namespace: str, resource: str, name: str
) -> HttpResponse:
    """POST shows the values."""
    refusal = refuse_anonymous(request)
    if refusal is not None:
        return refusal
    kind = find_kind(cluster, resource)
    action = kind.shown_actions.get(Reveal.name) if kind is not None else None
    if kind is None or action is None:
        raise Http404
    access = access_of(request)
    missing = action.missing(access, kind.gvr, Key(namespace, name))
    if missing is not None:
        if not is_in_doubt(access):
            return denied_page(request, lacking(missing, kind.gvr, namespace), kind)
        text = _("The cluster does not answer, so nothing can be revealed now.")
        return error_page(request, 503, text)
    return await _answer(request, kind, cluster, Key(namespace, name), access)


async def _answer(
    request: ConsoleRequest, kind: ResourceKind, cluster: Cluster, key: Key, access: Access
) -> HttpResponse:
    shown: dict[str, Any] = {}
    status = 200
    try:
        manifest = await _read(request, kind, key, access)
        # One may be a million characters long.
        shown = await asyncio.to_thread(_shown, kind, manifest)
    except NotFound:
        words = {"kind": kind.singular, "key": visible(str(key))}
        return error_page(request, 404, _("There is no %(kind)s %(key)s.") % words)
    except (ApiError, AuditUnavailable) as error:
        shown = {"error": problems.words(error, unsure=_("The cluster did not answer."))}
        status = error.page_code
    context = {
        "kind": kind.view,
        "group": NAV_GROUPS[kind.nav.group],
        "name": key.name,
        "namespace": key.namespace,
        "up_url": list_url(cluster.name, kind.segment, key.namespace),
        "url": detail_url(cluster.name, kind.segment, key),
        "seconds": SHOWN,
        **shown,
    }
    response = render(request, "console/reveal.html", context, status=status)
    response["Cache-Control"] = "no-store"
    return response


async def _read(
    request: ConsoleRequest, kind: ResourceKind, key: Key, access: Access
) -> dict[str, Any]:
    """Raises `ApiError` and `AuditUnavailable`; in the latter case nothing was read."""
    action = request_action(request, Reveal.name, kind.gvr, namespace=key.namespace, name=key.name)
    client = access.cluster.runtime.as_user(access.identity)
    async with record(action) as recording:
        return await client.get(
            kind.gvr, namespace=key.namespace, name=key.name, audit_id=recording.audit_id
        )


def _shown(kind: ResourceKind, manifest: dict[str, Any]) -> dict[str, Any]:
    metadata = manifest.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("managedFields", None)
    fits = len(msgspec.json.encode(manifest)) <= LARGEST
    return {"values": values(manifest), "yaml": yaml_text(kind, manifest) if fits else ""}
