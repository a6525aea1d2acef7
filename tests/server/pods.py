"""The live websocket on the real server, with a cache filled by the test. Runs in a separate
process.

Every number on standard input sets the restart count of all pods. GET /state returns the
buffered bytes and counters, any other path the etag of the list. Every client that sends a name
is signed in.
"""

import gc
import json
import os
import sys
from threading import Thread
from typing import Any

from console.web import server  # isort: skip  it chooses the reactor

import django
from django.conf import settings

settings.ROOT_URLCONF = "tests.views.urls"
settings.STORAGES = {
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
}
django.setup()

from console.kube.gvr import PODS  # noqa: E402  Django's apps must be ready
from console.kube.informer import Informer  # noqa: E402
from console.live import flow  # noqa: E402
from console.live.counters import counters  # noqa: E402
from console.live.sharedviews import get_shared_views  # noqa: E402
from console.routing import websocket_application  # noqa: E402
from console.ui.lists.selection import ListQuery  # noqa: E402
from console.ui.lists.table import build_table  # noqa: E402
from console.ui.navigation.page_routes import resolve_list  # noqa: E402
from rbac.process_clusters import set_host_cluster  # noqa: E402
from tests.support.informers import bring, preloaded  # noqa: E402
from tests.support.staticruntime import StaticRuntime  # noqa: E402
from tests.ui.support import FakeAccess, admin, pod  # noqa: E402

SHOWN = 400
URL = f"/clusters/host/pods?limit={SHOWN}"


def pods(restarts: int) -> list[dict[str, Any]]:
    return [pod(f"pod-{n:03}", restarts=restarts) for n in range(SHOWN)]


def follow_input(informer: Informer[Any]) -> None:
    for line in sys.stdin:
        for item in pods(int(line)):
            bring(informer, item)


def state() -> dict[str, int]:
    """Return the state of the server.

    `waiting` is the highest number of bytes buffered for one client, `following` the number of
    websockets with an up-to-date list.
    """
    # isinstance() would evaluate every lazy object of Django.
    transports = [
        item._transport for item in gc.get_objects() if type(item) is flow.WebsocketBuffer
    ]
    waiting = [len(one.dataBuffer) + one._tempDataLen for one in transports if one is not None]
    return {
        "waiting": max(waiting, default=0),
        "following": sum(len(one._following) for one in get_shared_views()._shared_views.values()),
        "sockets": counters.sockets,
        "refreshes": counters.refreshes,
        "slow_closed": counters.slow_closed,
    }


def etag(informer: Informer[Any]) -> dict[str, str]:
    place = resolve_list(URL)
    assert place is not None
    return {"etag": build_table(ListQuery.of(place.spec, admin()), informer).etag, "url": URL}


def application(informer: Informer[Any]) -> Any:
    async def alive() -> bool:
        return True

    async def answer(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            name = dict(scope["headers"])[b"x-name"].decode()
            viewer = {
                "account": name,
                "access_in": lambda _cluster: FakeAccess(name, get_in=None),
                "session_alive": alive,
            }
            await websocket_application({**scope, **viewer}, receive, send)
            return
        found = state() if scope["path"] == "/state" else etag(informer)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(found).encode()})

    return answer


def ready() -> None:
    os.write(1, b"ready\n")


def main() -> None:
    flow.DRAIN_SECONDS = float(sys.argv[2])
    informer = preloaded(PODS, pods(0))
    set_host_cluster(StaticRuntime({PODS: informer}))
    Thread(target=follow_input, args=(informer,), daemon=True).start()
    server.run(application(informer), "127.0.0.1", int(sys.argv[1]), ready)


if __name__ == "__main__":
    main()
