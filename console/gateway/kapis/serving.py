"""Find the handler of a request for `/kapis`, and send its result."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from io import BytesIO
from itertools import islice
from typing import Any
from urllib.parse import parse_qs

import msgspec
from django.core.handlers.asgi import ASGIRequest
from django.db import DatabaseError
from django.http import Http404
from django.utils.translation import gettext as _

from accounts.signin.passwords import TooBusy
from accounts.users.directory import UsersNotCached
from console.audit.trail import GATEWAY
from console.gateway.authentication import Caller
from console.gateway.errors import NOT_STORED, SECURITY_HEADERS, Refusal
from console.gateway.forwarding import Reply
from console.gateway.kapis import crud
from console.gateway.kapis.call import Call, ObjectList, PlainText
from console.gateway.kapis.modules import routes
from console.gateway.kapis.routes import Route
from console.gateway.kapis.unavailable import no_api
from console.gateway.paths import KAPIS
from console.gateway.requestinfo import MAX_FIELDS, RequestInfo
from console.kube.factory import UnknownKind
from console.kube.identity import Identity
from console.proxying.request import ProxyRequest
from console.ui.core.clusters import HOST, Cluster
from console.ui.core.object_source import TooManyProjects
from console.ui.core.permissions import Denied, NotLoaded, Refused
from console.ui.core.requests import ConsoleRequest
from console.ui.core.threads import in_thread

#: Objects that are encoded in one step while a list is sent.
_BATCH = 50
_JSON = "application/json"


def is_kapis(info: RequestInfo) -> bool:
    return info.segments[0] == KAPIS


def find_route(info: RequestInfo) -> tuple[Route, Mapping[str, str]] | None:
    """Return the route of a request with the values of its placeholders, or None. Raise `Refusal`
    405 for a method that the address doesn't have.
    """
    segments = info.segments[1:]
    while segments and not segments[-1]:
        segments.pop()
    if not segments:
        return None
    found = routes.find(info.method, segments)
    return found if found is not None else crud.find_route(info.method, segments)


def is_public(info: RequestInfo) -> bool:
    """Return True if the request needs no credential. Names of other clusters aren't public."""
    try:
        found = find_route(info)
    except Refusal:
        return False
    return found is not None and found[0].public and info.cluster == HOST


async def answer(
    asked: ProxyRequest,
    info: RequestInfo,
    caller: Caller | None,
    identity: Identity | None,
    cluster: Cluster,
    body: bytes,
    reply: Reply,
) -> None:
    """Run the handler and send its result. Raise `Refusal`, `ApiError` and `AuditUnavailable`."""
    found = find_route(info)
    if found is None:
        raise no_api([*info.segments, ""][1])
    chosen, values = found
    if caller is not None and caller.read_only and chosen.writes:
        raise Refusal(403, _("This token or session is read-only."))
    params = parse_qs(info.query, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    request = _request(asked, caller, identity, cluster)
    result = await _run(chosen, Call(request, cluster, info.method, params, body), values)
    await _send(result, reply, with_body=info.method != "HEAD")


def _request(
    asked: ProxyRequest, caller: Caller | None, identity: Identity | None, cluster: Cluster
) -> ConsoleRequest:
    """Return the request for the services, with the attributes that middleware sets for pages."""
    request: Any = ASGIRequest(asked.scope, BytesIO())
    request.cluster, request.audit_origin = cluster, GATEWAY
    request.account = caller.account if caller is not None else None
    request.presence = caller.presence if caller is not None else None
    request.access = cluster.access_for(identity) if identity is not None else None
    found: ConsoleRequest = request
    return found


async def _run(chosen: Route, call: Call, values: Mapping[str, str]) -> Any:
    try:
        return await chosen.handler(call, **values)
    except Denied as denied:
        raise Refusal(403, _denied_text(call, denied)) from denied
    except Refused as refused:
        raise Refusal(refused.page_code, str(refused)) from refused
    except TooManyProjects as error:
        raise Refusal(400, str(error)) from error
    except (Http404, UnknownKind) as error:
        raise Refusal(404, _("The object was not found.")) from error
    except NotLoaded as error:
        raise Refusal(503, str(error), retry_after="1") from error
    except UsersNotCached as error:
        raise Refusal(503, _("The users are not loaded yet. Try again later.")) from error
    except TooBusy as error:
        text = _("Too many passwords are being checked. Try again in a few seconds.")
        raise Refusal(429, text, retry_after="1") from error
    except DatabaseError as error:
        raise Refusal(503, _("The database is not available.")) from error


def _denied_text(call: Call, denied: Denied) -> str:
    """Return kube-apiserver's message for a missing permission. It is not translated there either."""
    resource = denied.gvr.resource + (f"/{denied.subresource}" if denied.subresource else "")
    where = f'in the namespace "{denied.namespace}"' if denied.namespace else "at the cluster scope"
    return (
        f'{denied.gvr.qualified} is forbidden: User "{call.user}" cannot {denied.verb} resource '
        f'"{resource}" in API group "{denied.gvr.group}" {where}'
    )


async def _send(result: Any, reply: Reply, *, with_body: bool) -> None:
    content_type = result.content_type if isinstance(result, PlainText) else _JSON
    pieces = _encoded(result) if isinstance(result, ObjectList) else iter([_whole(result)])
    # The first piece is made before the status is sent, so that its errors have one of their own.
    first = await in_thread(next, pieces, b"")
    headers = [
        (b"content-type", content_type.encode()),
        NOT_STORED,
        *SECURITY_HEADERS,
    ]
    await reply.start(HTTPStatus.OK, headers)
    if with_body:
        await reply.write(first)
        while piece := await in_thread(next, pieces, b""):
            await reply.write(piece)
    await reply.end()


def _whole(result: Any) -> bytes:
    return result.text.encode() if isinstance(result, PlainText) else msgspec.json.encode(result)


def _encoded(result: ObjectList) -> Iterator[bytes]:
    """Yield the list in pieces, so that not all objects are in memory at the same time."""
    items = iter(result.items)
    yield b'{"items":[' + _joined(islice(items, _BATCH))
    while piece := _joined(islice(items, _BATCH)):
        yield b"," + piece
    yield f'],"{result.total_key}":{result.total}}}'.encode()


def _joined(items: Iterable[Any]) -> bytes:
    found: Sequence[bytes] = [msgspec.json.encode(one) for one in items]
    return b",".join(found)
