"""Live pages: pages that are rendered as a whole and updated when their content changes.

A view passes a `LivePage` to `console.views.page`. When one of the types changes, the websocket
of the page computes the content again. If the content differs from the browser's, the browser is
told to reload the page. So users are never notified of changes that the page would not show.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import get_language

from console.kube.gvr import GVR
from console.ui.access import Access

#: Takes the query and the URL arguments. Returns the types that the page depends on, the main type
#: first. Raises `Http404`.
TypesCallback = Callable[..., tuple[GVR, ...]]
#: Takes the user's permissions, the query and the URL arguments. Raises `Denied` and `Http404`.
PageCallback = Callable[..., object]


@dataclass(frozen=True, slots=True)
class LivePage:
    """The callbacks of a live page.

    `check` raises `Denied` before any lookup if the user may not see the page. `look` returns
    everything that the page shows; equal content must have an equal `repr`.
    """

    types: TypesCallback
    check: PageCallback
    content: PageCallback

    def etag(self, access: Access, params: QueryDict, arguments: dict[str, Any]) -> str:
        """Return the ETag of the current page. Raise `Denied` or `Http404`."""
        return etag_of_page(self.content(access, params, **arguments))


def etag_of_page(content: object) -> str:
    """Return the value of the `ETag` header for the content."""
    digest = hashlib.sha256(repr((content, get_language())).encode()).hexdigest()
    return f'"{digest[:32]}"'
