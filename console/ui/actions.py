"""What can be done to an object, as a kind declares it.

An action says what it needs and what it is called; carrying it out is a view's work, as the viewer, so
that kube-apiserver decides a second time.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.gvr import GVR
from console.kube.store import Entry
from console.ui.access import Access


@dataclass(frozen=True, kw_only=True)
class Action:
    """`name`: the last part of its URL and of its URL's name. `verb`: the Kubernetes verb it needs.

    `danger`: shown apart and in the colour of what cannot be undone. `method`: "post" for what has no
    page that asks first; its button sends the form `act` of the page that it stands on.
    """

    name: ClassVar[str]
    verb: ClassVar[str]
    label: ClassVar[str | Promise]
    danger: ClassVar[bool] = False
    method: ClassVar[str] = "get"

    def spares(self, access: Access, name: str) -> bool:
        """True for an object that nobody, or not this viewer, does it to, whatever their rights. There is
        no other exception: for lists rights are asked once, and not for each row."""
        return False

    @final
    def may(self, access: Access, gvr: GVR, *, namespace: str, name: str) -> bool:
        """True if the viewer has the right, whether or not there is such an object."""
        return not self.spares(access, name) and access.can(
            self.verb, gvr, namespace=namespace, name=name
        )

    @final
    def allowed(self, access: Access, gvr: GVR, entry: Entry[Any]) -> bool:
        """True if the viewer may do it to this object; else it is not offered at all."""
        return self.may(access, gvr, namespace=entry.key.namespace, name=entry.key.name)


@dataclass(frozen=True, kw_only=True)
class Delete(Action):
    name: ClassVar[str] = "delete"
    verb: ClassVar[str] = "delete"
    label: ClassVar[str | Promise] = pgettext_lazy("action", "Delete")
    danger: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class Reveal(Action):
    """Shows the values of `data`, which no other page has. An address alone must not: neither a link
    nor a history may lead there."""

    name: ClassVar[str] = "reveal"
    verb: ClassVar[str] = "get"
    label: ClassVar[str | Promise] = gettext_lazy("Reveal values")
    method: ClassVar[str] = "post"
