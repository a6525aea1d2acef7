"""Changes that API clients propose. They are saved as drafts, which the user reviews and applies."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any

import msgspec
from django.http import HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from console.drafts import store as drafts
from console.kube.merging import apply_merge_patch
from console.kube.store import UNREADABLE
from console.ui.core.clusters import Cluster
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import status_response
from console.ui.core.threads import in_thread
from console.ui.editing.manifest import MOST, editable, original_text
from console.ui.editing.yaml_text import yaml_text
from console.views.draft_pages import submitted_proposal, too_many_drafts_text
from console.views.edit import edit_request
from console.views.page import page


@sensitive_post_parameters()
@page("POST")
async def proposal_page(
    request: ConsoleRequest, cluster: Cluster, namespace: str, resource: str, name: str
) -> HttpResponseBase:
    """POST (`patch`, `proposal`) saves a draft with a JSON merge patch of the object.

    The patch is checked with a dry run first. The response is an error if the object already has a
    draft, which is never overwritten.
    """
    asked = edit_request(request, cluster, namespace, resource, name)
    proposal = submitted_proposal(request)
    try:
        patch = msgspec.json.decode(request.POST.get("patch", ""), type=dict[str, Any])
    except UNREADABLE:
        return status_response(400, _("The patch must be a JSON object."))
    live = await asked.live()
    base = await in_thread(original_text, asked.kind, live)
    wanted = apply_merge_patch(editable(asked.kind, live), patch)
    text = await in_thread(yaml_text, asked.kind, wanted)
    if max(len(base), len(text)) > MOST:
        return status_response(422, _("This object is too large to edit here."))
    uid = live["metadata"]["uid"]
    asked = replace(asked, base=base, text=text, uid=uid, proposal=proposal)
    if asked.content() is None:
        return status_response(422, _("The patch does not change the object."))
    reviewed = await asked.run("review")
    if reviewed.status_code != HTTPStatus.OK:
        return reviewed
    try:
        await asked.save()
    except drafts.TooManyDrafts:
        return status_response(409, too_many_drafts_text())
    except drafts.DraftConflict:
        text = _("The user has a draft of this object. It must be applied or discarded first.")
        return status_response(409, text)
    return HttpResponse(status=204)
