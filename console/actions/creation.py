"""Helpers for actions that read, create or change other objects in the project of their subject."""

import secrets
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.kube.cachewait import wait_for_cache
from console.kube.gvr import GVR, Key
from console.ui.core.actions import ActionContext, ActionSucceeded
from console.ui.core.kind import segment_of
from console.ui.core.links import object_url
from console.ui.core.permissions import Refused
from console.ui.core.subject import Subject
from console.ui.details.relations.visible_type import VisibleType

#: Maximum characters of a new name, and of the old name's part of it before a suffix is added.
LONGEST, STEM = 63, 48


def new_name(stem: str) -> str:
    """Return a name with a random suffix for the form, so that submitting twice creates only one
    object.
    """
    return f"{stem[:STEM].rstrip('-.')}-{secrets.token_hex(3)}"


async def create_object(
    context: ActionContext, gvr: GVR, body: Mapping[str, Any], text: str
) -> ActionSucceeded:
    """Create the object and redirect to its page if the viewer can list its kind. `text` is the
    success message.
    """
    project, name = context.key.namespace, body["metadata"]["name"]
    made = await context.client.create(
        gvr, dict(body), namespace=project, audit_id=context.audit_id
    )
    access, key = context.access, Key(project, name)
    if not access.can("list", gvr, namespace=project):
        return ActionSucceeded(text)
    informer = access.cluster.runtime.informer(gvr)
    await wait_for_cache(informer, key, made["metadata"]["resourceVersion"])
    return ActionSucceeded(text, object_url(access.cluster.name, segment_of(gvr), key))


def check_loaded(subject: Subject, *types: GVR) -> None:
    """Raise `Refused` unless the lists of these types are loaded."""
    if any(VisibleType(subject, gvr).informer is None for gvr in types):
        text = _("The cluster is not responding, so this action is not available. Try again later.")
        raise Refused(text)
