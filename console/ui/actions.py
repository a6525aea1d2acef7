"""What can be done to an object, as a kind declares it.

An action says what it needs and what it is called; carrying it out is a view's work, as the viewer, so
that kube-apiserver decides a second time.
"""

from dataclasses import dataclass
from typing import ClassVar, final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.gvr import GVR, Key
from console.ui.access import Access

#: Of no object in particular.
NO_KEY = Key("", "")


@dataclass(frozen=True, slots=True)
class Permission:
    """A right: `verb` on an object, or on its `subresource`; with a `gvr`, on objects of that type in its
    namespace."""

    verb: str
    subresource: str = ""
    gvr: GVR | None = None

    def granted(self, access: Access, gvr: GVR, key: Key = NO_KEY) -> bool:
        """For the object of a type, whether or not there is one; without a key for every one."""
        name = key.name if self.gvr is None else ""
        return access.can(
            self.verb,
            self.gvr or gvr,
            namespace=key.namespace,
            name=name,
            subresource=self.subresource,
        )


@dataclass(frozen=True, kw_only=True)
class Action:
    """`name`: the last part of its URL and of its URL's name. `needs`: the rights that it takes, all of
    them.

    `danger`: shown apart and in the colour of what cannot be undone. `method`: "post" for what has no
    page that asks first; its button sends the form `act` of the page that it stands on. `per_viewer`:
    `exempt` depends on who the viewer is, so that nobody shares what shows it.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[Permission, ...]]
    label: ClassVar[str | Promise]
    danger: ClassVar[bool] = False
    method: ClassVar[str] = "get"
    per_viewer: ClassVar[bool] = False

    def exempt(self, access: Access, name: str) -> bool:
        """True for an object that nobody, or not this viewer, does it to, whatever their rights. There is
        no other exception: for lists rights are asked once, and not for each row."""
        return False

    @final
    def missing(self, access: Access, gvr: GVR, key: Key = NO_KEY) -> Permission | None:
        """The first right that the viewer lacks for the object, whether or not there is one."""
        return next((one for one in self.needs if not one.granted(access, gvr, key)), None)

    @final
    def may(self, access: Access, gvr: GVR, key: Key) -> bool:
        """True if the viewer may do it to the object, whether or not there is one; else it is not offered
        at all."""
        return not self.exempt(access, key.name) and self.missing(access, gvr, key) is None


@dataclass(frozen=True, kw_only=True)
class Delete(Action):
    name: ClassVar[str] = "delete"
    needs: ClassVar[tuple[Permission, ...]] = (Permission("delete"),)
    label: ClassVar[str | Promise] = pgettext_lazy("action", "Delete")
    danger: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class Reveal(Action):
    """Shows the values of `data`, which no other page has. An address alone must not: neither a link
    nor a history may lead there."""

    name: ClassVar[str] = "reveal"
    needs: ClassVar[tuple[Permission, ...]] = (Permission("get"),)
    label: ClassVar[str | Promise] = gettext_lazy("Reveal values")
    method: ClassVar[str] = "post"
