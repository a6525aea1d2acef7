"""Panels: what a tab of a detail is made of."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Literal

from django.utils.functional import Promise
from django.utils.safestring import SafeString

from console.kube.gvr import GVR
from console.ui.kind import ResourceKind
from console.ui.subject import Subject

#: What a panel shows that has nothing to say.
NOTHING = SafeString("")


@dataclass(frozen=True, kw_only=True)
class Panel:
    """`id` is one word, unique within its tab; `title` heads it. `params`: the parameters of the page's
    address that it looks at. `place`: what lives stands on the left and what an object is on the right,
    where there is room for two columns; what concerns all is above.

    A panel is drawn again whenever the object, or an object of a type in `needs`, changes. It gets
    what `console.ui.subject.Subject` holds and asks nobody else.
    """

    id: str
    title: str | Promise
    place: Literal["above", "left", "right"] = "left"
    params: ClassVar[tuple[str, ...]] = ()
    also: ClassVar[Collection[GVR]] = ()

    def needs(self, kind: ResourceKind) -> Collection[GVR]:
        """The types it looks at beside the kind's own: it may ask whether their objects may be listed.
        To any other question about rights the answer is no (`console.ui.declared`). Unless it depends
        on the kind, `also`."""
        return self.also

    def html(self, subject: Subject) -> SafeString:
        """What it shows, "" where it has nothing to say: then its head is not shown either."""
        raise NotImplementedError
