"""Pages that are drawn whole: what they are made of, so that sockets can tell when they change.

A view says so to `console.views.page`. A socket at its address works out the same content as the page,
whenever one of the types changed, and tells the browser to fetch the page when that is another than it
has: nobody learns of a change that the page would not show.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import get_language

from console.kube.gvr import GVR
from console.ui.access import Access

#: Of the query and the arguments in the address: whose objects the page is made of, the one that it is
#: about first. Raises `Http404`.
Types = Callable[..., tuple[GVR, ...]]
#: Of the viewer's rights, the query, and the arguments in the address. Raises `Denied` and `Http404`.
Look = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Following:
    """`check` raises `Denied` for whoever may not see the page, before anything is looked up; `look`
    returns everything that it shows, the same for the same text."""

    types: Types
    check: Look
    look: Look

    def etag(self, access: Access, params: QueryDict, arguments: dict[str, Any]) -> str:
        """Of the page as it would be drawn now. Raises `Denied` and `Http404`."""
        return etag_of_page(self.look(access, params, **arguments))


def etag_of_page(content: object) -> str:
    """As in the header `ETag`."""
    digest = hashlib.sha256(repr((content, get_language())).encode()).hexdigest()
    return f'"{digest[:32]}"'
