"""Panels, the building blocks of a detail page's tabs."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Literal

from django.utils.functional import Promise
from django.utils.safestring import SafeString

from console.kube.gvr import GVR
from console.ui.core.kind import ResourceKind
from console.ui.core.subject import Subject

#: Returned by panels without content.
NOTHING = SafeString("")


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A panel of a tab.

    `id` is a single word, unique within its tab, and `title` the heading. `params` contains the
    query parameters that the panel reads. `place` is the column in two-column layouts: `left`
    for content that changes often, `right` for properties of the object, and `above` for content
    that spans both columns.

    A panel is rendered again when the object changes or any object of a type in `needs`. Its
    only input is the `console.ui.core.subject.Subject`.
    """

    id: str
    title: str | Promise
    place: Literal["above", "left", "right"] = "left"
    params: ClassVar[tuple[str, ...]] = ()
    also: ClassVar[Collection[GVR]] = ()

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        """Return the types that the panel reads besides the object's own, by default `also`.

        The panel can check whether objects of these types can be listed. All other permission
        checks fail (`console.ui.core.kind_permissions`).
        """
        return self.also

    def html(self, subject: Subject) -> SafeString:
        """Render the panel. A panel that returns "" is hidden together with its title."""
        raise NotImplementedError
