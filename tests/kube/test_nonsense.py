"""Invalid responses with status 200: a proxy's HTML page, truncated JSON, wrong types, endless
bodies.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest
from multidict import CIMultiDict

from console.kube import clients, transport
from console.kube.clients import ConsoleClient, UserClient
from console.kube.clock import SystemClock
from console.kube.errors import ServerError, TooDeep
from console.kube.gvr import CONFIG_MAPS
from console.kube.identity import Identity
from console.kube.leader import Leader
from console.kube.transport import ApiResponse, Transport

NONSENSE = (
    *(b"", b"<html>Log in here</html>", b'{"metadata": {"name": "a"', b"null", b"[]", b"1", b'"x"'),
    *(
        b"{}",
        b'{"metadata": null}',
        b'{"metadata": []}',
        b"\xff\xfe",
        b'{"metadata": {"name": "\xff"}}',
    ),
)
#: Bodies that no stored object has.
NO_OBJECTS = tuple(
    b'{"metadata": %b}' % metadata
    for metadata in (
        *(b"{}", b'{"uid": "u"}', b'{"resourceVersion": "1"}'),
        b'{"uid": 1, "resourceVersion": "1"}',
        b'{"uid": "u", "resourceVersion": 1}',
        b'{"uid": "u", "resourceVersion": "1", "labels": ["a"]}',
        b'{"uid": "u", "resourceVersion": "1", "annotations": {"a": 1}}',
        b'{"uid": "u", "resourceVersion": "1", "finalizers": {}}',
        b'{"uid": "u", "resourceVersion": "1", "ownerReferences": ["a"]}',
    )
)
#: Objects that are no Leases; those with UID and version are only refused by the leader election.
NO_LEASES = (
    b'{"metadata": {}}',
    b'{"metadata": {"resourceVersion": 1}}',
    b'{"metadata": {"uid": "u", "resourceVersion": "1"}, "spec": "x"}',
    b'{"metadata": {"uid": "u", "resourceVersion": "1"}, "spec": [1]}',
    b'{"metadata": {"uid": "u", "resourceVersion": "1"}, "spec": {"holderIdentity": 1}}',
    b'{"metadata": {"uid": "u", "resourceVersion": "1"}, "spec": {"leaseDurationSeconds": "long"}}',
    b'{"metadata": {"uid": "u", "resourceVersion": "1"}, "spec": {"leaseTransitions": {}}}',
)


def answering(body: bytes) -> Transport:
    class Way:
        async def request(self, *_arguments: Any, **_options: Any) -> ApiResponse:
            return ApiResponse(body)

    return cast(Transport, Way())


@pytest.mark.parametrize("body", NONSENSE)
async def test_invalid_body_raises_server_error(body: bytes) -> None:
    way = answering(body)
    for found in (ConsoleClient(way), UserClient(way, Identity("jane"))):
        where: dict[str, Any] = {"namespace": "shop", "name": "a"}
        item: dict[str, Any] = {"metadata": {"name": "a", "namespace": "shop"}}
        for call in (
            found.get(CONFIG_MAPS, **where),
            found.create(CONFIG_MAPS, item, namespace="shop"),
            found.replace(CONFIG_MAPS, item, **where),
            found.patch(CONFIG_MAPS, {}, **where),
            found.apply(CONFIG_MAPS, item),
            found.delete(CONFIG_MAPS, **where),
            found.list_by_fields(CONFIG_MAPS, "metadata.name=a"),
            found.evict(**where, uid="u"),
        ):
            with pytest.raises(ServerError) as caught:
                await call
            assert caught.value.page_code == 502


@pytest.mark.parametrize("body", NO_OBJECTS)
async def test_stored_object_requires_uid_version_and_matching_type(body: bytes) -> None:
    way = ConsoleClient(answering(body))
    where: dict[str, Any] = {"namespace": "shop", "name": "a"}
    for call in (
        way.get(CONFIG_MAPS, **where),
        way.create(CONFIG_MAPS, {}, namespace="shop"),
        way.replace(CONFIG_MAPS, {}, **where),
        way.patch(CONFIG_MAPS, {}, **where),
    ):
        with pytest.raises(ServerError):
            await call


async def test_endless_list_is_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "MOST_PAGES", 3)
    for body in (b'{"metadata": {"continue": "x"}}', b'{"metadata": {}, "items": [1]}'):
        with pytest.raises(ServerError):
            await ConsoleClient(answering(body)).list_by_fields(CONFIG_MAPS, "metadata.name=a")


async def test_deeply_nested_object_is_reported_as_such_and_can_be_deleted() -> None:
    deep = b'{"metadata": {}, "spec": %s1%s}' % (b"[" * 5_000, b"]" * 5_000)
    found = ConsoleClient(answering(deep))
    with pytest.raises(TooDeep) as caught:
        await found.get(CONFIG_MAPS, namespace="shop", name="a")
    assert caught.value.page_code == 422
    await found.delete(CONFIG_MAPS, namespace="shop", name="a")


@pytest.mark.parametrize("body", [b"[" * 60_000, b'{"message": "\xff"}'])
async def test_unreadable_error_body_keeps_the_status_code(body: bytes) -> None:
    class Content:
        async def iter_any(self) -> AsyncIterator[bytes]:
            yield body

    assert (await transport._error(refusing(Content()))).code == 422


@pytest.mark.parametrize("body", [*NONSENSE, *NO_LEASES])
async def test_invalid_lease_does_not_start_or_crash_leadership(body: bytes) -> None:
    way = ConsoleClient(answering(body))
    leader = Leader(way, SystemClock(), name="lease", namespace="here", identity="a")
    assert not await leader._try()
    assert not leader.leading


async def test_endless_response_is_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_ANSWER", 1_000)
    sent = 0

    class Content:
        async def iter_any(self) -> AsyncIterator[bytes]:
            nonlocal sent
            while True:
                sent += 1
                yield b"x" * 300

    class Response:
        status, connection, content = 200, None, Content()
        headers: CIMultiDict[str] = CIMultiDict()

    class Way(Transport):
        def __init__(self) -> None:
            pass

        @asynccontextmanager
        async def open(self, *_arguments: Any, **_options: Any) -> AsyncIterator[Any]:
            yield Response()

    with pytest.raises(ServerError):
        await ConsoleClient(Way()).get(CONFIG_MAPS, namespace="shop", name="a")
    assert sent == 4


@pytest.mark.parametrize("pieces", [1, 7, 5_000])
async def test_error_body_is_read_completely_across_chunks(pieces: int) -> None:
    body = b'{"reason": "Invalid", "message": "%s"}' % (b"no" * 5_000)

    class Content:
        async def iter_any(self) -> AsyncIterator[bytes]:
            for at in range(0, len(body), pieces):
                yield body[at : at + pieces]

    assert (await transport._error(refusing(Content()))).reason == "Invalid"


async def test_endless_error_body_is_truncated() -> None:
    class Content:
        async def iter_any(self) -> AsyncIterator[bytes]:
            while True:
                yield b"x" * 300

    assert (await transport._error(refusing(Content()))).code == 422


def refusing(content: Any) -> Any:
    return SimpleNamespace(status=422, headers={}, content=content)
