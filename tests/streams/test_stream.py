"""Long responses streamed from the cluster: back-pressure, limits, session checks and audit
records.
"""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import pytest

from console.audit import trail
from console.audit.models import AuditRecord
from console.audit.trail import AuditAction as Recorded
from console.kube.errors import ApiError, BadRequest
from console.kube.gvr import PODS, Key
from console.live.sessionmonitor import get_session_monitor
from console.streams import stream as streams
from console.streams.memory_quota import MemoryQuota, QuotaExceeded
from console.streams.stream import (
    MAX_BUFFERED,
    STREAM_QUOTA,
    ResponseStream,
    StreamEnded,
    StreamRequest,
)
from console.ui.core.actions import Permission
from console.ui.core.clusters import Cluster, clusters
from console.ui.core.permissions import Denied
from console.ui.core.requests import UserSession
from console.views.authorization import PermissionsUnconfirmed
from devcluster.logs.runs import RATE_ANNOTATION
from tests.logs.conftest import World
from tests.ui.support import FakeAccess

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass
class Viewer:
    """A user whose session and permissions the test can revoke."""

    access: FakeAccess = field(default_factory=lambda: FakeAccess("admin", get_in=None))
    alive: bool = True

    def order(self, name: str, **params: str) -> StreamRequest:
        async def lasts() -> bool:
            return self.alive

        def access_in(_cluster: Cluster) -> FakeAccess:
            return self.access

        key = Key("default", name)
        return StreamRequest(
            cluster=clusters.host,
            account="admin",
            presence=UserSession(lasts, access_in),
            rights=(Permission("get", "log"),),
            gvr=PODS,
            key=key,
            recorded=Recorded("admin", "admin", "get", PODS, "default", name, "log"),
            path=PODS.path("default", name, "log"),
            params=[*params.items()],
        )


@asynccontextmanager
async def opened(
    order: StreamRequest, on_over: Callable[[StreamEnded], None] | None = None
) -> AsyncIterator[ResponseStream]:
    stream = ResponseStream(order, on_over)
    await stream.open()
    try:
        yield stream
    finally:
        await stream.close()


async def outcomes() -> list[tuple[str, int | None, str]]:
    rows = AuditRecord.objects.order_by("pk")
    return [(one.name, one.code, one.reason) async for one in rows]


async def test_stream_is_read_to_its_end(world: World) -> None:
    world.start(world.pod("whole", **{RATE_ANNOTATION: "500"}))
    async with opened(Viewer().order("whole", tailLines="20")) as stream:
        found = b""
        while piece := await stream.read():
            found += piece
        assert found.count(b"\n") <= 20
        assert await stream.read() == b""
    assert await outcomes() == [("whole", 200, "")]


async def test_a_cancelled_close_waits_for_the_record(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that is closed at the moment at which its stream ends."""
    writing, written = Event(), Event()

    def write_late(*arguments: Any) -> None:
        writing.set()
        assert written.wait(20)
        finish(*arguments)

    finish = trail._finish
    monkeypatch.setattr(trail, "_finish", write_late)
    world.start(world.pod("cancelled"))
    stream = ResponseStream(Viewer().order("cancelled", follow="true"))
    await stream.open()
    closing = asyncio.create_task(stream.close())
    await asyncio.to_thread(writing.wait)
    # By the feed, and by the socket while the feed is closing.
    for _ in range(2):
        closing.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert not closing.done()
    written.set()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert await outcomes() == [("cancelled", 200, "")]


async def test_closed_stream_is_freed_without_garbage_collection(world: World) -> None:
    """The garbage collector may run only after a thousand other streams."""
    world.start(world.pod("freed"))
    gc.disable()
    try:
        async with opened(Viewer().order("freed", follow="true")) as stream:
            closed = weakref.ref(stream)
        del stream
        assert closed() is None
    finally:
        gc.enable()


async def test_slow_reader_causes_back_pressure(world: World) -> None:
    """The response is a hundred times larger than the buffer. All of it arrives when it is read."""
    world.start(world.pod("pour", **{RATE_ANNOTATION: "50000"}))
    async with opened(Viewer().order("pour", follow="true")) as stream:
        await full(stream)
        held = stream._size
        for _ in range(20):
            await asyncio.sleep(0.01)
        assert MAX_BUFFERED <= stream._size == held < MAX_BUFFERED + 2**18
        total = 0
        while total < 20 * MAX_BUFFERED:
            total += len(await stream.read())


async def full(stream: ResponseStream) -> None:
    async with asyncio.timeout(20):
        while stream._size < MAX_BUFFERED:
            await asyncio.sleep(0.01)


async def test_stream_ends_with_the_session(world: World) -> None:
    world.start(world.pod("session"))
    viewer, ended = Viewer(), asyncio.Event()
    async with opened(viewer.order("session", follow="true"), lambda _: ended.set()) as stream:
        await stream.read()
        viewer.alive = False
        get_session_monitor()._on_rights(clusters.host)
        async with asyncio.timeout(2):
            await ended.wait()
        with pytest.raises(StreamEnded) as over:
            await stream.read()
        assert over.value.code == 401
    assert await outcomes() == [("session", 401, "Ended")]


async def test_stream_ends_when_the_permission_is_lost(world: World) -> None:
    world.start(world.pod("right", **{RATE_ANNOTATION: "50000"}))
    viewer = Viewer()
    async with opened(viewer.order("right", follow="true")) as stream:
        await full(stream)
        viewer.access.get_in = ()
        async with asyncio.timeout(2):
            while not stream._over:
                await asyncio.sleep(0.01)
        with pytest.raises(StreamEnded) as over:
            await stream.read()
        assert over.value.code == 403
    assert await outcomes() == [("right", 403, "Ended")]


async def test_unconfirmed_permission_ends_the_stream_with_503(world: World) -> None:
    world.start(world.pod("unsure"))
    viewer = Viewer()
    async with opened(viewer.order("unsure", follow="true")) as stream:
        viewer.access.get_in, viewer.access.doubt = (), True
        with pytest.raises(StreamEnded) as over:
            while True:
                await stream.read()
        assert over.value.code == 503
    with pytest.raises(PermissionsUnconfirmed):
        await ResponseStream(viewer.order("unsure")).open()


async def test_stream_of_an_unknown_user_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.start(world.pod("doubt"))
    monkeypatch.setattr(streams, "CHECK_INTERVAL", 0.01)
    viewer = Viewer()
    async with opened(viewer.order("doubt", follow="true")) as stream:
        viewer.access.names_where = None  # type: ignore[method-assign,assignment]
        viewer.access.get_in = ()
        with pytest.raises(StreamEnded):
            while True:
                await stream.read()


async def test_denied_stream_sends_no_request_and_writes_no_record(world: World) -> None:
    mark = world.cluster.audit.mark()
    stream = ResponseStream(Viewer(FakeAccess("eve", get_in=())).order("secret"))
    with pytest.raises(Denied):
        await stream.open()
    assert world.asked(mark) == [] and await outcomes() == []


async def test_error_of_the_cluster_is_passed_on(world: World) -> None:
    world.start(world.pod("refused"))
    stream = ResponseStream(Viewer().order("refused", previous="true"))
    with pytest.raises(BadRequest) as error:
        await stream.open()
    assert "previous terminated container" in error.value.message
    assert await outcomes() == [("refused", 400, "BadRequest")]


async def test_broken_stream_is_reported_as_an_error(world: World) -> None:
    world.start(world.pod("broken", **{RATE_ANNOTATION: "1000"}))
    async with opened(Viewer().order("broken", follow="true")) as stream:
        await stream.read()
        world.cluster.kill()
        try:
            with pytest.raises(ApiError):
                while await stream.read():
                    pass
        finally:
            world.cluster.start()
    assert [(name, code) for name, code, _ in await outcomes()] == [("broken", 503)]


async def test_streams_are_limited_per_user_and_per_process(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.start(world.pod("many"))
    monkeypatch.setattr(
        streams,
        "memory_quota",
        places := MemoryQuota(user=2 * STREAM_QUOTA, process=3 * STREAM_QUOTA),
    )
    order = Viewer().order("many", follow="true")
    async with opened(order), opened(order):
        with pytest.raises(QuotaExceeded):
            await ResponseStream(order).open()
        with (
            places.reserve("somebody else", STREAM_QUOTA),
            pytest.raises(QuotaExceeded),
            places.reserve("third", 1),
        ):
            pass
    assert places.reserved("admin") == 0
    async with opened(order):
        pass


async def test_cancelling_while_opening_releases_the_slot(world: World) -> None:
    world.start(world.pod("gone"))
    opening = asyncio.create_task(ResponseStream(Viewer().order("gone", follow="true")).open())
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert not get_session_monitor()._checked
