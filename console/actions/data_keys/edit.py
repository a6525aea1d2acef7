"""Add, change and remove keys of a Secret or ConfigMap.

The form stores a hash of each original value. Only values that the user changed are written, and
only if they were not changed elsewhere in the meantime. Values of Secrets are never shown.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.data_keys.form import MOST, KeysForm
from console.actions.data_keys.users import groups_of, restart_offers, sees_all, workloads
from console.actions.data_keys.values import (
    BINARY,
    DisplayedValue,
    data_patch,
    decoded_data,
    digest_of,
    displayed_values,
)
from console.kube.errors import ChangedConcurrently
from console.kube.gvr import GVR, Key
from console.kube.store import Entry
from console.ui.core.action_texts import Fact, kubectl_patch, owner_notes
from console.ui.core.actions import (
    Action,
    ActionContext,
    ActionPage,
    ActionSucceeded,
    Outcome,
    Permission,
)
from console.ui.core.kind import ResourceKind
from console.ui.core.links import object_url
from console.ui.core.permissions import Refused
from console.ui.core.statuses import wants_status
from console.ui.core.subject import Subject
from console.ui.forms.forms import ConsoleForm

#: Maximum length of a value in a kubectl command, and the text that replaces longer values.
_SHORT, _ELIDED = 200, "VALUE"


@dataclass(frozen=True, kw_only=True)
class EditKeys(Action):
    """Edit the data keys of an object. `secret` is True for Secrets, whose values are
    base64-encoded and hidden.
    """

    secret: bool = False
    name = "keys"
    label = gettext_lazy("Edit keys")
    title_text = gettext_lazy("Edit keys of %(kind)s %(name)s")
    button_text = gettext_lazy("Save")
    effect_text = gettext_lazy(
        "Environment variables and files mounted with subPath use a new value only after the "
        "container restarts. Other mounted files are updated automatically within minutes."
    )
    weight = 2
    needs = (Permission("patch"), Permission("get"))
    reads_live = True

    def facts(self, kind: ResourceKind, entry: Entry[Any]) -> Sequence[Fact]:
        return kind.facts(entry)

    def reads(self, kind: ResourceKind) -> Collection[GVR]:
        return workloads()

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        return owner_notes(subject.entry.projection.owner)

    async def extra_html(self, subject: Subject, form: ConsoleForm | None) -> SafeString:
        context = {"groups": groups_of(subject), "known": sees_all(subject)}
        return render_to_string("ui/_key_users.html", context)

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        if subject.entry.projection.immutable:
            text = _(
                "This object is immutable, so its data cannot be changed. Delete the object and "
                "create a new one."
            )
            raise Refused(text)
        found = None
        if data is None:
            found = list(displayed_values(subject.live, secret=self.secret))
            if len(found) > MOST:
                text = _(
                    "This object has more than %(most)s keys. Edit the object as YAML instead."
                )
                raise Refused(text % {"most": MOST})
        return KeysForm(data, found, restart_offers(subject) if data is not None else ())

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        changed: Mapping[str, bytes | None] = data.get("changed") or {"KEY": _ELIDED.encode()}
        told = self._displayed_patch(changed, data.get("shown") or {})
        return kubectl_patch(kind.gvr, key, told)

    def _displayed_patch(
        self, changed: Mapping[str, bytes | None], shown: Mapping[str, DisplayedValue]
    ) -> Mapping[str, Mapping[str, str | None]]:
        """Return the patch to display. Secret and long values are replaced."""
        if self.secret:
            # kube-apiserver encodes the values in `stringData`.
            told = {key: _ELIDED for key, new in changed.items() if new is not None}
            gone = dict.fromkeys(changed.keys() - told)
            parts: dict[str, Mapping[str, str | None]] = {"stringData": told, "data": gone}
            return {name: part for name, part in parts.items() if part}
        binary = [key for key, one in shown.items() if one.how == BINARY]
        now = {"data": dict.fromkeys(shown.keys() - binary), "binaryData": dict.fromkeys(binary)}
        patch = data_patch(changed, now, secret=False)
        return {
            name: {
                key: _ELIDED if value is not None and len(value) > _SHORT else value
                for key, value in part.items()
            }
            for name, part in patch.items()
        }

    async def run(self, context: ActionContext) -> Outcome:
        await context.patch_with_retry(partial(self._body, context.data))
        text = _("Saved the keys of %(kind)s %(name)s.") % context.message_values
        offers = context.data["offers"]
        if not offers or wants_status(context.request):
            return ActionSucceeded(text)
        url = object_url(context.access.cluster.name, context.kind.segment, context.key)
        return ActionPage("console/keys_saved.html", {"text": text, "offers": offers, "url": url})

    def _body(self, data: Mapping[str, Any], found: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the patch. Raise `ChangedConcurrently` if a value was changed in the meantime."""
        shown: Mapping[str, DisplayedValue] = data["shown"]
        changed: Mapping[str, bytes | None] = data["changed"]
        there = decoded_data(found, secret=self.secret)
        pending = {key: new for key, new in changed.items() if there.get(key) != new}
        for key in pending:
            before = shown[key].digest if key in shown else None
            if (digest_of(there[key]) if key in there else None) != before:
                raise ChangedConcurrently(key)
        return data_patch(pending, found, secret=self.secret)
