"""What can be done to an object: one class for each, one entry in the `actions` of a kind.

An action says what it needs, where it is offered, and what it will do in words and as a line of kubectl.
It is done as the viewer, so that kube-apiserver decides a second time. Everything around that, from the
page that asks to the audit trail, is `console.views.actions`.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.client import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, ObjectClient
from console.kube.errors import ApiError, Conflict, Overtaken, Replaced
from console.kube.gvr import GVR, Key
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.facts import Fact, status_fact
from console.ui.forms import ConsoleForm
from console.ui.kubectl import kubectl, kubectl_patch, quoted
from console.ui.links import action_url, edit_url
from console.ui.text import visible

if TYPE_CHECKING:
    from console.ui.http import ConsoleRequest
    from console.ui.kind import ResourceKind
    from console.ui.subject import Subject

#: Of no object in particular.
NO_KEY = Key("", "")
#: Where an action is offered: in the menu of a row, above an object's page, for many chosen rows at once.
ROW, HEADER, BULK = "row", "header", "bulk"
EVERYWHERE = frozenset({ROW, HEADER, BULK})
#: Times that a write is tried while others change the object.
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Permission:
    """A right: `verb` on an object, or on its `subresource`; with a `gvr`, on objects of that type in its
    namespace, or in the one that `place` says."""

    verb: str
    subresource: str = ""
    gvr: GVR | None = None
    place: Callable[[], str] | None = None

    def granted(self, access: Access, gvr: GVR, key: Key = NO_KEY) -> bool:
        """For the object of a type, whether or not there is one; without a key for every one."""
        name = key.name if self.gvr is None else ""
        return access.can(
            self.verb,
            self.gvr or gvr,
            namespace=self.namespace(key.namespace),
            name=name,
            subresource=self.subresource,
        )

    def namespace(self, own: str) -> str:
        """Where it must be had; `own`: the object's."""
        return self.place() if self.place is not None else own


@dataclass(frozen=True, slots=True)
class Context:
    """One object that something is done to, as the viewer; as the console where `by_console` says so.
    `uid`: that of the object that was shown. `data`: what was filled in, as the form's `cleaned_data`.
    What `client` sends carries `audit_id`. `also` does another action to another object of the kind,
    by its uid, with a record of its own: it says why that was refused, "" if it is done. `answers`: the
    object after each patch of it. `trial`: nothing is to be done, and kube-apiserver says what would come
    of it. `before`: the object each time that it was read, `warnings`: what kube-apiserver warned of."""

    request: "ConsoleRequest"
    kind: "ResourceKind"
    key: Key
    uid: str
    access: Access
    client: ObjectClient
    audit_id: str
    also: Callable[["Action", Key, str], Awaitable[str]]
    data: Mapping[str, Any] = field(default_factory=dict)
    trial: bool = False
    before: list[dict[str, Any]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    async def patch(self, body: Mapping[str, Any], subresource: str = "") -> dict[str, Any]:
        """A merge patch, refused if another object has taken the name."""
        metadata = {**body.get("metadata", {}), "uid": self.uid}
        return await self._patch({**body, "metadata": metadata}, MERGE_PATCH, subresource)

    async def strategic_patch(
        self, body: Mapping[str, Any], subresource: str = ""
    ) -> dict[str, Any]:
        """The same by names: what is in a list stays that `body` does not name."""
        metadata = {**body.get("metadata", {}), "uid": self.uid}
        return await self._patch({**body, "metadata": metadata}, STRATEGIC_PATCH, subresource)

    async def json_patch(self, *operations: Mapping[str, Any]) -> dict[str, Any]:
        """The same with the operations of RFC 6902."""
        # A test would be refused as well, but with no word of the uid.
        uid = {"op": "replace", "path": "/metadata/uid", "value": self.uid}
        return await self._patch([uid, *operations], JSON_PATCH)

    async def fresh(self) -> dict[str, Any]:
        """The object as it is now; before anything is changed. Raises `Replaced` if another one has taken
        the name."""
        kind, key = self.kind, self.key
        try:
            found = await self.client.get(
                kind.gvr, namespace=key.namespace, name=key.name, audit_id=self.audit_id
            )
        except ApiError as error:
            error.harmless = not self.answers
            raise
        if found["metadata"].get("uid") != self.uid:
            raise Replaced
        self.before.append(found)
        return found

    async def rewrite(
        self,
        body_of: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        write: Callable[[Mapping[str, Any]], Awaitable[object]] | None = None,
    ) -> None:
        """A patch of the object as it is now, which `body_of` makes of it, and again if others change it
        meanwhile. `write` sends it, as a merge patch unless it is given. Raises `Overtaken`."""
        for _try in range(_TRIES):
            found = await self.fresh()
            body = body_of(found)
            version = found["metadata"]["resourceVersion"]
            metadata = {**body.get("metadata", {}), "resourceVersion": version}
            try:
                await (write or self.patch)({**body, "metadata": metadata})
            except Conflict:
                continue
            return
        raise Overtaken

    async def _patch(self, body: Any, content_type: str, subresource: str = "") -> dict[str, Any]:
        try:
            found = await self.client.patch(
                self.kind.gvr,
                body,
                namespace=self.key.namespace,
                name=self.key.name,
                content_type=content_type,
                subresource=subresource,
                dry_run=self.trial,
                audit_id=self.audit_id,
                warnings=self.warnings,
            )
        except ApiError as error:
            error.harmless = self.trial
            raise
        if not subresource:
            self.answers.append(found)
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
    def words(self) -> dict[str, object]:
        """For sentences about it."""
        return {"kind": self.kind.singular, "name": visible(self.key.name)}


@dataclass(frozen=True, slots=True)
class Done:
    """It is done, and `text` says so. The reader goes back to where they came from, or to `url`."""

    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """What is shown instead, once: nobody keeps it."""

    template: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Follow:
    """It has begun, and `text` says so. The reader is led to the object's page, which shows how far it
    is for as long as it takes (ADR 12)."""

    text: str


Outcome = Done | Follow | Page


@dataclass(frozen=True, kw_only=True)
class Action:
    """`name`: the last part of its URL. `needs`: the rights that it takes, all of them. `trail`: verb and
    subresource in the audit trail, unless they are those of the first right; of one that has no
    subresource its own name stands for it.

    `danger`: shown apart and in the colour of what cannot be undone. `asks`: there is a page that asks
    first; else a button does it at once, and no link or history leads there. `form`: what is filled in on
    that page, unless `make_form` makes it. `wants_uid`: it is done to nothing but the object that was
    shown. `stays`: afterwards there still is the object. `places`: with none, only a page of the kind's
    own offers it. `per_viewer`: `exempt` depends on who the viewer is, so that nobody shares what shows
    it. `reads_live`: its form begins with what the cache need not have (`Subject.live`). `reviews`: its
    page leads to one that shows what would come of it, as kube-apiserver says; then `run` does nothing
    but `fresh` and patches.
    `weight`: how much it is used, from 0 to 3. Above an object's page the weightiest are buttons, and the
    others are in a menu.
    `title_text` (with action, kind and name), `button_text`, `effect_text` and `reads_also`: what
    `title`, `button`, `effect` and `reads` say unless they are more than that.
    """

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    needs: ClassVar[tuple[Permission, ...]]
    icon: ClassVar[str] = ""
    danger: ClassVar[bool] = False
    weight: ClassVar[int] = 0
    places: ClassVar[frozenset[str]] = frozenset({ROW, HEADER})
    asks: ClassVar[bool] = True
    wants_uid: ClassVar[bool] = True
    stays: ClassVar[bool] = True
    form: ClassVar[type[ConsoleForm] | None] = None
    per_viewer: ClassVar[bool] = False
    reads_live: ClassVar[bool] = False
    reviews: ClassVar[bool] = False
    reads_also: ClassVar[Collection[GVR]] = ()
    title_text: ClassVar[str | Promise] = gettext_lazy("%(action)s %(kind)s %(name)s")
    button_text: ClassVar[str | Promise] = ""
    effect_text: ClassVar[str | Promise] = ""
    trail: ClassVar[tuple[str, str] | None] = None
    #: In a list of results, of an object that it was done to, and of another.
    done_word: ClassVar[str | Promise] = pgettext_lazy("result", "Done")
    refused_word: ClassVar[str | Promise] = pgettext_lazy("result", "Not done")

    def exempt(self, access: Access, name: str) -> bool:
        """True for an object that nobody, or not this viewer, does it to, whatever their rights. There is
        no other exception: for lists rights are asked once, and not for each row."""
        return False

    def applicable(self, entry: Entry[Any]) -> bool:
        """False while it makes no sense for the object as the cache has it."""
        return True

    def by_console(self, access: Access, gvr: GVR, key: Key) -> bool:
        """True if the viewer may do it to the object by rights that Kubernetes cannot say. Then the
        console does it for them, and lists do not offer it."""
        return False

    async def check(self, access: Access, gvr: GVR, key: Key) -> None:
        """Raises `Refused` if it cannot be done now for a reason that the object itself does not know."""

    @final
    def missing(self, access: Access, gvr: GVR, key: Key = NO_KEY) -> Permission | None:
        """The first right that the viewer lacks for the object, whether or not there is one."""
        return next((one for one in self.needs if not one.granted(access, gvr, key)), None)

    @final
    def may(self, access: Access, gvr: GVR, key: Key) -> bool:
        """True if the viewer may do it to the object, whether or not there is one; else it is not offered
        at all."""
        return not self.exempt(access, key.name) and self.missing(access, gvr, key) is None

    @final
    @property
    def recorded(self) -> tuple[str, str]:
        """Verb and subresource in the audit trail."""
        first = self.needs[0]
        return self.trail or (first.verb, first.subresource or self.name)

    def recorded_name(self, key: Key, data: Mapping[str, Any]) -> str:
        """What the audit trail calls the object that it is done to. `data`: as `run` has it."""
        return key.name

    @final
    @property
    def has_form(self) -> bool:
        """True if something is filled in on its page, which takes the object itself."""
        return self.form is not None or type(self).make_form is not Action.make_form

    def url(self, cluster: str, segment: str, key: Key) -> str:
        """Where it is offered to be done."""
        return action_url(self.name, cluster, segment, key)

    def title(self, kind: "ResourceKind", name: str) -> str:
        words = {"action": self.label, "kind": kind.singular, "name": name}
        return str(self.title_text) % words

    def titles(self, kind: "ResourceKind", total: str) -> str:
        """The same for several objects."""
        words = {"action": self.label, "total": total, "nouns": kind.nouns}
        return _("%(action)s %(total)s %(nouns)s") % words

    def button(self, kind: "ResourceKind") -> str | Promise:
        """What is on the button that does it: its label and the kind, or `button_text`."""
        words = {"action": self.label, "kind": kind.singular}
        return self.button_text or _("%(action)s %(kind)s") % words

    def effect(self, kind: "ResourceKind") -> str | Promise:
        """What it will do, in a sentence or two."""
        return self.effect_text

    def command(self, kind: "ResourceKind", key: Key, data: Mapping[str, Any]) -> str:
        """The same as a line of kubectl; "" where there is none. `data`: of the form, so far."""
        return ""

    def facts(self, kind: "ResourceKind", entry: Entry[Any]) -> Sequence[Fact]:
        """How the object is, and what else somebody should know before."""
        status = kind.status(entry)
        return [status_fact(status)] if status is not None else []

    def reads(self, kind: "ResourceKind") -> Collection[GVR]:
        """What its page looks at beside the object: these are the `informers` of its `Subject`."""
        return self.reads_also

    def notes(self, subject: "Subject") -> Sequence[str | Promise]:
        """What speaks against it, or will undo it, as things are."""
        return ()

    def initial(self, entry: Entry[Any]) -> Mapping[str, Any]:
        """What the form begins with."""
        return {}

    def make_form(self, subject: "Subject", data: QueryDict | None) -> ConsoleForm | None:
        """`data`: what was sent, None at first; the form is told the files then. Raises `Refused`."""
        return self.form(data, initial=dict(self.initial(subject.entry))) if self.form else None

    def evidence(self, subject: "Subject", form: ConsoleForm | None) -> SafeString:
        """What stands above the form."""
        return SafeString("")

    def typed(self, kind: "ResourceKind", keys: Sequence[Key]) -> str:
        """What must be typed before it is done to all of these; "" for nothing."""
        return ""

    async def run(self, context: Context) -> Outcome:
        """Does it. Raises `ApiError`."""
        raise NotImplementedError


class Delete(Action):
    name = "delete"
    label = pgettext_lazy("action", "Delete")
    needs = (Permission("delete"),)
    trail = ("delete", "")
    icon = "trash-2"
    danger = True
    places = EVERYWHERE
    stays = False
    done_word = pgettext_lazy("result", "Deleted")
    refused_word = gettext_lazy("Not deleted")
    effect_text = gettext_lazy("This cannot be undone.")
    #: More than these must be confirmed by typing their number.
    untyped: ClassVar[int] = 10

    def facts(self, kind: "ResourceKind", entry: Entry[Any]) -> Sequence[Fact]:
        return kind.facts(entry)

    def command(self, kind: "ResourceKind", key: Key, data: Mapping[str, Any]) -> str:
        return kubectl(f"delete {kind.gvr.qualified} {quoted(key.name)}", key)

    def typed(self, kind: "ResourceKind", keys: Sequence[Key]) -> str:
        if len(keys) <= self.untyped and not kind.precious:
            return ""
        return keys[0].name if len(keys) == 1 else str(len(keys))

    async def run(self, context: Context) -> Outcome:
        await context.delete()
        return Done(_("Deleted %(kind)s %(name)s.") % context.words)


class Patch(Action):
    """Writes the same into every object: `body`, a merge patch. `done_text`: that it is done."""

    needs = (Permission("patch"),)
    body: ClassVar[Mapping[str, Any]]
    done_text: ClassVar[str | Promise]

    def command(self, kind: "ResourceKind", key: Key, data: Mapping[str, Any]) -> str:
        return kubectl_patch(kind.gvr, key, self.body)

    async def run(self, context: Context) -> Outcome:
        await context.patch(self.body)
        return Done(str(self.done_text) % context.words)


class Link(Action):
    """Leads to a page elsewhere (`url`), for those who have the right to what is done there. `dock`: what
    that page is as a tab of the dock, log or terminal; "" for one that is not shown there."""

    dock: ClassVar[str] = ""


class EditYaml(Link):
    """Leads to the page where an object is edited as a manifest. Every kind has it."""

    name = "edit"
    label = gettext_lazy("Edit YAML")
    weight = 1
    needs = (Permission("patch"), Permission("get"))

    def url(self, cluster: str, segment: str, key: Key) -> str:
        return edit_url(cluster, segment, key)

    def command(self, kind: "ResourceKind", key: Key, data: Mapping[str, Any]) -> str:
        return kubectl(f"edit {kind.gvr.qualified} {quoted(key.name)}", key)
