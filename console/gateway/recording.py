"""Audit records of requests through the gateway.

Requests that change something, requests that connect to a program in a container, reads of logs
and of Secrets are recorded. Dry runs, and reviews, which are created but change nothing, are not.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from django.conf import settings

from console.audit.client_address import client_address
from console.audit.trail import GATEWAY, AuditAction, AuditEntry, record
from console.gateway.authentication import Caller
from console.gateway.requestinfo import RequestInfo
from console.kube.gvr import SECRETS
from console.kube.identity import Identity
from console.kube.store import UNREADABLE
from console.proxying.request import ProxyRequest

#: API groups of reviews: questions that are sent with POST.
_REVIEWS = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
#: Bodies above this size aren't parsed for the object's name.
_MAX_PARSED = 2**20
#: Start of a body in protobuf, and the type of fields with a length.
#: https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
_PROTOBUF, _LENGTH = b"k8s\x00", 2


class _Metadata(msgspec.Struct):
    name: str = ""


class _Object(msgspec.Struct):
    metadata: _Metadata | None = None
    dryRun: list[str] | None = None


def is_recorded(info: RequestInfo, body: bytes) -> bool:
    if not info.resource:
        return info.changes
    if info.subresource == "log" or (info.group, info.resource) == ("", SECRETS.resource):
        return not info.is_dry_run
    if not info.changes or info.is_dry_run:
        return False
    if info.group in _REVIEWS and info.verb == "create":
        return False
    # The options of a deletion are in its body.
    return not (info.method == "DELETE" and (_parse(body).dryRun or []) == ["All"])


@asynccontextmanager
async def recorded(
    asked: ProxyRequest, info: RequestInfo, caller: Caller, identity: Identity, body: bytes
) -> AsyncIterator[AuditEntry | None]:
    """Write an audit record around the block, if the request is recorded. Raise
    `AuditUnavailable`.
    """
    if not is_recorded(info, body):
        yield None
        return
    name = info.name
    if info.verb == "create" and not name:
        metadata = _parse(body).metadata
        name = metadata.name if metadata is not None else ""
    client = asked.scope.get("client")
    action = AuditAction(
        actor=caller.account,
        as_user=identity.name,
        verb=info.verb,
        gvr=info.gvr,
        namespace=info.namespace,
        name=name,
        subresource=info.subresource,
        source=client_address(
            str(client[0]) if client else "",
            asked.headers.get("x-forwarded-for", ""),
            settings.TRUSTED_PROXIES,
        ),
        user_agent=asked.headers.get("user-agent", ""),
        path=info.path,
        cluster=info.cluster,
        origin=GATEWAY,
    )
    async with record(action) as entry:
        # Until kube-apiserver responds, and for good if the client disconnects before.
        entry.set_outcome(0, "Aborted")
        yield entry


def _parse(body: bytes) -> _Object:
    """Return the fields of a body in JSON, or the name of an object in protobuf. Other formats have no
    fields here.
    """
    if len(body) > _MAX_PARSED:
        return _Object()
    if body.startswith(_PROTOBUF):
        metadata = _field(_field(body[len(_PROTOBUF) :], 2), 1)
        return _Object(_Metadata(_field(metadata, 1).decode("utf-8", "replace")))
    try:
        return msgspec.json.decode(body, type=_Object)
    except UNREADABLE:
        return _Object()


def _field(message: bytes, wanted: int) -> bytes:
    """Return the first field with this number and a length, or b"" if the message has none.

    https://protobuf.dev/programming-guides/encoding/. A message contains its type (1) and the object
    (2), an object its metadata (1), and the metadata the name (1).
    """
    at = 0
    try:
        while at < len(message):
            tag, at = _varint(message, at)
            kind = tag & 7
            if kind == _LENGTH:
                size, at = _varint(message, at)
                if tag >> 3 == wanted:
                    return message[at : at + size]
                at += size
            elif kind == 0:
                _value, at = _varint(message, at)
            else:
                return b""
    except IndexError:
        return b""
    return b""


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return the number at this position, and the position after it. Raise IndexError for a number
    of more than 64 bits.
    """
    value = 0
    for number in range(10):
        byte = message[at + number]
        value |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            return value, at + number + 1
    raise IndexError
