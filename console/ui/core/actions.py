"""Actions on objects. Each action is a class and an entry in the `actions` of a kind.

An action declares its required permissions, where it is offered, a description of its effect,
and an equivalent kubectl command. Requests are sent as the user, so kube-apiserver authorizes
them again. Everything else, from the confirmation page to the audit trail, is in
`console.views.actions`.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.clients import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, ObjectClient
from console.kube.errors import ApiError, ChangedConcurrently, Conflict, ObjectRecreated
from console.kube.gvr import GVR, Key
from console.kube.merging import json_patch
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.action_texts import (
    Fact,
    kubectl,
    kubectl_patch,
    owner_notes,
    quoted,
    status_fact,
)
from console.ui.core.links import action_url, edit_form_url, edit_url, new_url, started_url
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import ConsoleForm

if TYPE_CHECKING:
    from console.ui.core.kind import ResourceKind
    from console.ui.core.requests import ConsoleRequest
    from console.ui.core.subject import Subject

#: Stands for no particular object.
NO_KEY = Key("", "")
#: Places that offer an action: the menu of a row, the header of an object's page, and the bulk
#: action bar.
ROW, HEADER, BULK = "row", "header", "bulk"
EVERYWHERE = frozenset({ROW, HEADER, BULK})
#: Maximum number of attempts for a write when others change the object at the same time.
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Permission:
    """A required permission: `verb` on an object or on its `subresource`.

    With `gvr`, the permission applies to all objects of that type in the object's namespace, or
    in the namespace that `place` returns.
    """

    verb: str
    subresource: str = ""
    gvr: GVR | None = None
    place: Callable[[], str] | None = None

    def granted(self, access: Access, gvr: GVR, key: Key = NO_KEY) -> bool:
        """Return True if the user has the permission for the object, whether or not the object
        exists. Without `key`, for all objects of the type.
        """
        name = key.name if self.gvr is None else ""
        return access.can(
            self.verb,
            self.gvr or gvr,
            namespace=self.namespace(key.namespace),
            name=name,
            subresource=self.subresource,
        )

    def namespace(self, own: str) -> str:
        """Return the namespace in which the permission is required. `own` is the object's
        namespace.
        """
        return self.place() if self.place is not None else own


@dataclass(frozen=True, slots=True)
class ActionContext:
    """Everything that an action needs to run on an object.

    Requests are sent as the user, or as the console if `by_console` returns True.

    - `uid`: the UID of the object that the page showed.
    - `data`: the form's `cleaned_data`.
    - `audit_id`: the audit ID of all requests that `client` sends.
    - `run_related`: runs another action on another object of the kind, with a separate audit record. It
      returns the reason for a failure, or "" on success.
    - `read_objects`: the object as returned by each read.
    - `patched_objects`: the object as returned by each patch.
    """

    request: "ConsoleRequest"
    kind: "ResourceKind"
    key: Key
    uid: str
    access: Access
    client: ObjectClient
    audit_id: str
    run_related: Callable[["Action", Key, str], Awaitable[str]]
    data: Mapping[str, Any] = field(default_factory=dict)
    read_objects: list[dict[str, Any]] = field(default_factory=list)
    patched_objects: list[dict[str, Any]] = field(default_factory=list)

    async def patch(self, body: Mapping[str, Any], subresource: str = "") -> dict[str, Any]:
        """Send a merge patch. kube-apiserver rejects it if another object has taken the name."""
        metadata = {**body.get("metadata", {}), "uid": self.uid}
        return await self._patch({**body, "metadata": metadata}, MERGE_PATCH, subresource)

    async def strategic_patch(
        self, body: Mapping[str, Any], subresource: str = ""
    ) -> dict[str, Any]:
        """Send a strategic merge patch, which keeps list items that `body` does not name."""
        metadata = {**body.get("metadata", {}), "uid": self.uid}
        return await self._patch({**body, "metadata": metadata}, STRATEGIC_PATCH, subresource)

    async def json_patch(self, *operations: Mapping[str, Any]) -> dict[str, Any]:
        """Send a JSON patch (RFC 6902)."""
        # `replace` instead of `test`: the error message of a failed `test` operation does not
        # mention the UID.
        uid = {"op": "replace", "path": "/metadata/uid", "value": self.uid}
        return await self._patch([uid, *operations], JSON_PATCH)

    async def fetch(self) -> dict[str, Any]:
        """Return the current object from kube-apiserver. Call this before the first change. Raise
        `ObjectRecreated` if another object has taken the name.
        """
        kind, key = self.kind, self.key
        try:
            found = await self.client.get(
                kind.gvr, namespace=key.namespace, name=key.name, audit_id=self.audit_id
            )
        except ApiError as error:
            error.harmless = not self.patched_objects
            raise
        if found["metadata"].get("uid") != self.uid:
            raise ObjectRecreated
        self.read_objects.append(found)
        return found

    async def patch_with_retry(
        self,
        body_of: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    ) -> None:
        """Patch the current object with the result of `body_of`, a merge patch, and retry on conflicts.
        Raise `ChangedConcurrently` after too many conflicts.
        """
        await _patch_with_retry(self.fetch, body_of, self.patch)

    async def patch_other(
        self, gvr: GVR, key: Key, body_of: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    ) -> None:
        """Patch another object like `patch_with_retry`. `body_of` must check or include its UID if
        another object of the same name must not be changed.
        """
        client, call = self.client, {**key._asdict(), "audit_id": self.audit_id}
        await _patch_with_retry(
            lambda: client.get(gvr, **call), body_of, lambda body: client.patch(gvr, body, **call)
        )

    async def _patch(self, body: Any, content_type: str, subresource: str = "") -> dict[str, Any]:
        found = await self.client.patch(
            self.kind.gvr,
            body,
            namespace=self.key.namespace,
            name=self.key.name,
            content_type=content_type,
            subresource=subresource,
            audit_id=self.audit_id,
        )
        if not subresource:
            self.patched_objects.append(found)
        return found

    async def delete(self, *, grace: int | None = None, policy: str = "") -> None:
        await self.client.delete(
            self.kind.gvr,
            namespace=self.key.namespace,
            name=self.key.name,
            uid=self.uid,
            grace=grace,
            policy=policy,
            audit_id=self.audit_id,
        )

    @property
    def message_values(self) -> dict[str, object]:
        """Placeholder values for messages about the object."""
        return {"kind": self.kind.singular, "name": escape_invisible(self.key.name)}

    def succeeded(self, text: str | Promise, url: str = "", **words: object) -> "ActionSucceeded":
        """Return the outcome with a message about the object. `words` are more placeholder values,
        which the caller must have made safe to display.
        """
        return ActionSucceeded(str(text) % {**self.message_values, **words}, url)

    def started(self, text: str | Promise, **words: object) -> "ActionStarted":
        """Like `succeeded`, for an action whose effect takes longer."""
        return ActionStarted(str(text) % {**self.message_values, **words})


async def _patch_with_retry(
    read: Callable[[], Awaitable[dict[str, Any]]],
    body_of: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    write: Callable[[Mapping[str, Any]], Awaitable[object]],
) -> None:
    for _try in range(_TRIES):
        found = await read()
        body = body_of(found)
        version = found["metadata"]["resourceVersion"]
        metadata = {**body.get("metadata", {}), "resourceVersion": version}
        try:
            await write({**body, "metadata": metadata})
        except Conflict:
            continue
        return
    raise ChangedConcurrently


@dataclass(frozen=True, slots=True)
class ActionSucceeded:
    """The action succeeded. `text` is the message. The user returns to the previous page, or to
    `url`.
    """

    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class ActionPage:
    """A page to render instead of a redirect. It is shown once and never stored."""

    template: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ActionStarted:
    """The action has started. `text` is the message. The user is redirected to the object's page,
    which shows the progress (ADR 12).
    """

    text: str


Outcome = ActionSucceeded | ActionStarted | ActionPage


@dataclass(frozen=True, kw_only=True)
class Action:
    """Base class of actions.

    - `name`: the last segment of the action's URL.
    - `needs`: the required permissions, all of them.
    - `audit_verb`: verb and subresource in the audit trail. The default is those of the first
      permission. An action whose first permission has no subresource uses its own name.
    - `danger`: True for destructive actions, which are displayed separately and in the danger
      color.
    - `has_confirmation`: True if a confirmation page exists. Otherwise a button runs the action directly,
      and no link or history entry leads to a page.
    - `form`: the form on the confirmation page, unless `make_form` is overridden.
    - `bulk_form`: the form on the confirmation page for several objects.
    - `requires_uid`: True if the action may only apply to the object that the page showed.
    - `keeps_object`: True if the object still exists afterwards.
    - `places`: where the action is offered. If empty, only a page specific to the kind offers
      it.
    - `per_user`: True if `is_protected` depends on the user. Then rendered fragments that show the
      action are not shared between users.
    - `reads_live`: True if the form's initial values need data that the cache may not have
      (`Subject.live`).
    - `weight`: how often the action is used, from 0 to 3. On an object's page the actions with
      the highest weight are buttons, and the others are in a menu.
    - `title_text` (with action, kind and name), `button_text`, `effect_text` and `reads_also`:
      the values returned by `title`, `button`, `effect` and `reads`, unless those are
      overridden.
    """

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    needs: ClassVar[tuple[Permission, ...]]
    icon: ClassVar[str] = ""
    danger: ClassVar[bool] = False
    weight: ClassVar[int] = 0
    places: ClassVar[frozenset[str]] = frozenset({ROW, HEADER})
    has_confirmation: ClassVar[bool] = True
    requires_uid: ClassVar[bool] = True
    keeps_object: ClassVar[bool] = True
    form: ClassVar[type[ConsoleForm] | None] = None
    bulk_form: ClassVar[type[ConsoleForm] | None] = None
    per_user: ClassVar[bool] = False
    reads_live: ClassVar[bool] = False
    reads_also: ClassVar[Collection[GVR]] = ()
    title_text: ClassVar[str | Promise] = gettext_lazy("%(action)s %(kind)s %(name)s")
    button_text: ClassVar[str | Promise] = ""
    effect_text: ClassVar[str | Promise] = ""
    audit_verb: ClassVar[tuple[str, str] | None] = None
    #: Labels in the result list of a bulk action, for success and failure.
    success_label: ClassVar[str | Promise] = pgettext_lazy("result", "Done")
    failure_label: ClassVar[str | Promise] = pgettext_lazy("result", "Not done")

    def is_protected(self, access: Access, name: str) -> bool:
        """Return True if the object is protected from this action for all users, or for this user,
        regardless of permissions.

        This is the only exception to permissions. Lists check permissions once, not per row.
        """
        return False

    def applicable(self, entry: Entry[Any]) -> bool:
        """Return False if the action makes no sense for the cached state of the object."""
        return True

    def is_offered(self, access: Access, entry: Entry[Any]) -> bool:
        """Return False if pages should not offer the action for the object.

        Overrides may read other cached objects that the action's permissions allow the user to
        list. The action's page explains why the action is impossible.
        """
        return self.applicable(entry)

    def by_console(self, access: Access, gvr: GVR, key: Key) -> bool:
        """Return True if the user may run the action because of permissions that Kubernetes RBAC
        can't express.

        The console then sends the requests with its own identity. Lists do not offer such
        actions.
        """
        return False

    async def check(self, access: Access, gvr: GVR, key: Key) -> None:
        """Raise `Refused` if the action is currently impossible for a reason outside of the object
        itself.
        """

    @final
    def missing(self, access: Access, gvr: GVR, key: Key = NO_KEY) -> Permission | None:
        """Return the first permission that the user lacks for the object, or None. The object need
        not exist.
        """
        return next((one for one in self.needs if not one.granted(access, gvr, key)), None)

    @final
    def is_allowed(self, access: Access, gvr: GVR, key: Key) -> bool:
        """Return True if the user may run the action on the object. The object need not exist. If
        False, the action is not offered.
        """
        return not self.is_protected(access, key.name) and self.missing(access, gvr, key) is None

    @final
    @property
    def audit_action(self) -> tuple[str, str]:
        """Verb and subresource for the audit trail."""
        first = self.needs[0]
        return self.audit_verb or (first.verb, first.subresource or self.name)

    def audit_name(self, key: Key, data: Mapping[str, Any]) -> str:
        """Return the object name for the audit trail. `data` is the data passed to `run`."""
        return key.name

    @final
    @property
    def is_bulk_only(self) -> bool:
        """True if only the bulk action bar offers the action."""
        return self.places == {BULK}

    @final
    @property
    def has_form(self) -> bool:
        """True if the action's page has a form. Rendering the form requires the object."""
        return self.form is not None or type(self).make_form is not Action.make_form

    def url(self, cluster: str, segment: str, key: Key) -> str:
        """Return the URL of the action's confirmation page."""
        return action_url(self.name, cluster, segment, key)

    def title(self, kind: "ResourceKind", name: str) -> str:
        words = {"action": self.label, "kind": kind.singular, "name": name}
        return str(self.title_text) % words

    def titles(self, kind: "ResourceKind", total: str) -> str:
        """Return the page title for several objects."""
        words = {"action": self.label, "total": total, "nouns": kind.nouns}
        return _("%(action)s %(total)s %(nouns)s") % words

    def button(self, kind: "ResourceKind") -> str | Promise:
        """Return the button label: `button_text`, or the action's label, with the kind unless the
        action has its own `title_text`.
        """
        if self.button_text or self.title_text is not Action.title_text:
            return self.button_text or self.label
        return _("%(action)s %(kind)s") % {"action": self.label, "kind": kind.singular}

    def effect(self, kind: "ResourceKind") -> str | Promise:
        """Return one or two sentences that describe the effect."""
        return self.effect_text

    def command(self, kind: "ResourceKind", key: Key, data: Mapping[str, Any]) -> str:
        """Return the equivalent kubectl command, or "" if none exists. `data` is the form data
        entered so far.
        """
        return ""

    def facts(self, kind: "ResourceKind", entry: Entry[Any]) -> Sequence[Fact]:
        """Return the object's status and other information that the user should see before
        confirming.
        """
        status = kind.status(entry)
        return [status_fact(status)] if status is not None else []

    def reads(self, kind: "ResourceKind") -> Collection[GVR]:
        """Return the other types that the page reads. They become the `informers` of its `Subject`."""
        return self.reads_also

    def notes(self, subject: "Subject") -> Sequence[str | Promise]:
        """Return warnings about the current state, for example that the change will be reverted."""
        return ()

    def initial(self, entry: Entry[Any]) -> Mapping[str, Any]:
        """Return the initial values of the form."""
        return {}

    def make_form(self, subject: "Subject", data: QueryDict | None) -> ConsoleForm | None:
        """Return the form of the confirmation page, or None.

        `data` is the submitted data, or None when the page is first shown. Uploaded files are
        assigned to the form afterwards. Raise `Refused` if the action is impossible.
        """
        return self.form(data, initial=dict(self.initial(subject.entry))) if self.form else None

    async def extra_html(self, subject: "Subject", form: ConsoleForm | None) -> SafeString:
        """Return the HTML to show above the form."""
        return SafeString("")

    def confirmation_text(self, kind: "ResourceKind", keys: Sequence[Key]) -> str:
        """Return the text that the user must type to confirm, or "" if none is required."""
        return ""

    async def run(self, context: ActionContext) -> Outcome:
        """Run the action. Raise `ApiError` if a request fails."""
        raise NotImplementedError


class Delete(Action):
    name = "delete"
    label = pgettext_lazy("action", "Delete")
    needs = (Permission("delete"),)
    audit_verb = ("delete", "")
    icon = "trash-2"
    danger = True
    places = EVERYWHERE
    keeps_object = False
    success_label = pgettext_lazy("result", "Deleted")
    failure_label = gettext_lazy("Not deleted")
    effect_text = gettext_lazy("This cannot be undone.")
    #: Deleting more objects than this must be confirmed by typing their number.
    max_unconfirmed: ClassVar[int] = 10

    def facts(self, kind: "ResourceKind", entry: Entry[Any]) -> Sequence[Fact]:
        return kind.facts(entry)

    def command(self, kind: "ResourceKind", key: Key, data: Mapping[str, Any]) -> str:
        return kubectl(f"delete {kind.gvr.qualified} {quoted(key.name)}", key)

    def confirmation_text(self, kind: "ResourceKind", keys: Sequence[Key]) -> str:
        if len(keys) <= self.max_unconfirmed and not kind.confirm_by_name:
            return ""
        return keys[0].name if len(keys) == 1 else str(len(keys))

    async def run(self, context: ActionContext) -> Outcome:
        await context.delete(**self.options(context.data))
        return context.succeeded(_("Deleted %(kind)s %(name)s."))

    def options(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options of `ActionContext.delete` from the form's data."""
        return {}


class Patch(Action):
    """Apply the merge patch `body` to every object. `done_text` is the success message.

    `is_started` is True if the effect takes longer (`ActionStarted`).
    """

    needs = (Permission("patch"),)
    body: ClassVar[Mapping[str, Any]]
    done_text: ClassVar[str | Promise]
    is_started: ClassVar[bool] = False

    def command(self, kind: "ResourceKind", key: Key, data: Mapping[str, Any]) -> str:
        return kubectl_patch(kind.gvr, key, self.body)

    async def run(self, context: ActionContext) -> Outcome:
        await context.patch(self.body)
        return (context.started if self.is_started else context.succeeded)(self.done_text)


class Link(Action):
    """A link to another page (`url`), shown to users with the permissions for the operation on that
    page.

    `dock` is the type of dock tab for that page, log or terminal. It is "" for pages that can't
    be docked.
    """

    dock: ClassVar[str] = ""


class EditForm(Link):
    """Link to the form that edits an object step by step. For kinds with a wizard."""

    name = "form"
    label = pgettext_lazy("action", "Edit")
    weight = 2
    needs = (Permission("patch"), Permission("get"))

    def url(self, cluster: str, segment: str, key: Key) -> str:
        return edit_form_url(cluster, segment, key)

    def command(self, kind: "ResourceKind", key: Key, data: Mapping[str, Any]) -> str:
        return kubectl(f"edit {kind.gvr.qualified} {quoted(key.name)}", key)


class EditSection(Link):
    """Link to the page with some fields of the form that edits an object: the section of the kind's
    wizard with the name of the action.

    The data of `command` are the manifest `before` and `after` the change.
    """

    weight = 1
    needs = (Permission("patch"), Permission("get"))

    def url(self, cluster: str, segment: str, key: Key) -> str:
        return edit_form_url(cluster, segment, key, self.name)

    def notes(self, subject: "Subject") -> Sequence[str | Promise]:
        return owner_notes(subject.entry.projection.owner)

    def command(self, kind: "ResourceKind", key: Key, data: Mapping[str, Any]) -> str:
        changes = list(json_patch(data["before"], data["after"])) if data else ()
        return kubectl_patch(kind.gvr, key, changes, "json") if changes else ""


class EditYaml(Link):
    """Link to the YAML editor of an object. Available for every kind."""

    name = "edit"
    label = gettext_lazy("Edit YAML")
    weight = 1
    needs = (Permission("patch"), Permission("get"))

    def url(self, cluster: str, segment: str, key: Key) -> str:
        return edit_url(cluster, segment, key)

    def command(self, kind: "ResourceKind", key: Key, data: Mapping[str, Any]) -> str:
        return kubectl(f"edit {kind.gvr.qualified} {quoted(key.name)}", key)


class CreateCopy(Link):
    """Link to the page that creates a copy of an object, also in another project."""

    name = "copy"
    label = gettext_lazy("Create a copy")
    needs = (Permission("create"), Permission("get"))

    def url(self, cluster: str, segment: str, key: Key) -> str:
        return started_url(new_url(cluster, segment, key.namespace), copy=str(key))
