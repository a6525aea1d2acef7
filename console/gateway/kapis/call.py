"""A request for `/kapis` and the values that its handler returns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from django.utils.translation import gettext as _

from console.gateway.errors import Refusal
from console.kube.apply import Manifest
from console.kube.names import is_dns_label
from console.kube.store import UNREADABLE
from console.ui.core.access import Access
from console.ui.core.clusters import HOST, Cluster
from console.ui.core.requests import ConsoleRequest
from console.views.guard import access_of
from workspaces.services.actor import Actor

#: Response of a write that returns no object.
SUCCESS: Mapping[str, str] = {"message": "success"}


@dataclass(frozen=True, slots=True)
class ObjectList:
    """A list. `items` are read while the response is sent. `total` is the number of objects in all
    pages, and `total_key` its name in the response.
    """

    items: Iterable[Manifest]
    total: int
    total_key: str = "totalItems"


@dataclass(frozen=True, slots=True)
class PlainText:
    """A response that is not JSON."""

    text: str
    content_type: str = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Call:
    """A request. `params` are the query parameters, without a value only if repeated empty.

    `request` carries the user and the permissions to the services, as for a page.
    """

    request: ConsoleRequest
    cluster: Cluster
    method: str = "GET"
    params: Mapping[str, Sequence[str]] = field(default_factory=dict)
    body: bytes = b""

    @property
    def access(self) -> Access:
        return access_of(self.request)

    @property
    def user(self) -> str:
        """The name of the user whose permissions apply."""
        return self.access.identity.name

    def param(self, name: str) -> str:
        """Return a query parameter, or "" without one. Raise `Refusal` if it is repeated."""
        found = self.params.get(name, ())
        if len(found) > 1:
            raise Refusal(400, _("The parameter %(name)s is repeated.") % {"name": name[:60]})
        return found[0] if found else ""

    def json(self) -> Any:
        """Return the decoded body. Raise `Refusal`."""
        try:
            return msgspec.json.decode(self.body)
        except UNREADABLE as error:
            raise Refusal(400, _("The request body is not valid JSON.")) from error

    def object(self) -> Manifest:
        """Return the body, which must be an object with metadata. Raise `Refusal`."""
        found = self.json()
        if not isinstance(found, dict) or not isinstance(found.setdefault("metadata", {}), dict):
            raise Refusal(400, _("The request body must be a Kubernetes object."))
        meta = found["metadata"]
        texts = (meta.get("name", ""), meta.get("namespace", ""), meta.get("generateName", ""))
        maps = (meta.get("labels") or {}, meta.get("annotations") or {})
        if not all(isinstance(one, str) for one in texts) or not all(map(_is_text_map, maps)):
            raise Refusal(400, _("The metadata of the object is invalid."))
        return found

    def actor(self, workspace: str) -> Actor:
        """Return the user for the services of a workspace. Raise `Refusal` for an invalid name, and
        in clusters other than the host, which have no workspaces.
        """
        self.require_host()
        if not is_dns_label(workspace):
            raise Refusal(404, _("The workspace was not found."))
        return Actor(self.request, self.access, workspace)

    def require_host(self) -> None:
        """Raise `Refusal` unless the request is for the host cluster."""
        if self.cluster.name != HOST:
            raise Refusal(404, _("Only the host cluster serves this API."))


def _is_text_map(found: Any) -> bool:
    return isinstance(found, dict) and all(isinstance(one, str) for one in found.values())


def text_field(body: Any, name: str) -> str:
    """Return a text in a JSON object, "" if it is missing. Raise `Refusal`."""
    value = body.get(name, "") if isinstance(body, dict) else None
    if not isinstance(value, str):
        raise Refusal(400, _("The field %(name)s must be a string.") % {"name": name})
    return value


def entries_of(call: Call) -> list[dict[str, Any]]:
    """Return the body as a list of objects; a single object counts as a list. Raise `Refusal`."""
    found = call.json()
    listed = found if isinstance(found, list) else [found]
    if not listed or len(listed) > 100 or not all(isinstance(one, dict) for one in listed):
        raise Refusal(400, _("The request body must be a list of 1 to 100 objects."))
    return listed
