"""Templates of a workspace: manifests from which its members create objects."""

from collections.abc import Callable, Sequence
from functools import partial

from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _

from console.audit.trail import record, request_action
from console.kube.gvr import GVR
from console.saved import templates as store
from console.saved.models import SavedTemplate
from console.saved.service import NameTaken
from console.saved.templates import MAX_LENGTH, MAX_TEMPLATES, TemplateText
from console.ui.core.permissions import Refused
from workspaces.rights import TEMPLATES
from workspaces.services.actor import Actor

#: Pseudo resource in the audit trail. The name is that of the workspace and the template.
SAVED_TEMPLATES = GVR("", "", "savedtemplates")


async def templates(actor: Actor) -> Sequence[SavedTemplate]:
    """Return the templates of the workspace, sorted by name, without their content."""
    return await sync_to_async(store.templates_of)([actor.get_workspace().uid])


async def find_template(actor: Actor, number: int) -> SavedTemplate | None:
    return await sync_to_async(store.find_template)(number, [actor.get_workspace().uid])


async def save_template(actor: Actor, kind: str, text: TemplateText, content: str) -> None:
    """Save a new template. `kind` is the URL segment of its kind. Raise `Denied` or `Refused`."""
    add = partial(store.save_template, actor.get_workspace().uid, actor.name, kind, text, content)
    await _write(actor, "create", text.name, add)


async def change_template(actor: Actor, template: SavedTemplate, text: TemplateText) -> None:
    """Change name and description. Raise `Denied` or `Refused`."""
    change = partial(store.change_template, template.workspace, template.pk, text)
    await _write(actor, "update", template.name, change)


async def delete_template(actor: Actor, template: SavedTemplate) -> None:
    """Delete a template. Raise `Denied`."""
    delete = partial(store.delete_template, template.workspace, template.pk)
    await _write(actor, "delete", template.name, delete)


async def _write(actor: Actor, verb: str, name: str, write: Callable[[], object]) -> None:
    actor.rights.require(verb, TEMPLATES)
    named = f"{actor.workspace}/{name}"
    async with record(request_action(actor.request, verb, SAVED_TEMPLATES, name=named)) as entry:
        try:
            await sync_to_async(write)()
        except NameTaken:
            entry.set_outcome(409, "AlreadyExists")
            raise Refused(_("Another template has this name.")) from None
        except store.TooManyTemplates:
            entry.set_outcome(403, "Forbidden")
            text = _("A workspace can have at most %(most)s templates. Delete one first.")
            raise Refused(text % {"most": MAX_TEMPLATES}) from None
        except store.TemplateTooLong:
            entry.set_outcome(413, "RequestEntityTooLarge")
            text = _("A template can have at most %(most)s characters of YAML.")
            raise Refused(text % {"most": f"{MAX_LENGTH:,}"}) from None
