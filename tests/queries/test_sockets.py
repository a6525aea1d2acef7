"""Websockets accept any query and message with error codes below 500 and without a traceback."""

import json

import pytest
from channels.testing import WebsocketCommunicator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from console.kube.gvr import PODS
from console.kube.identity import Identity
from console.routing import websocket_application, websocket_urlpatterns
from console.ui.core.clusters import clusters
from console.ui.core.registry import kinds
from tests.leaks.world import ADMIN, key_of, visible
from tests.queries.hostile_queries import encoded, failures, query, value
from tests.support.depth import number

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLES = settings(
    max_examples=number(150, 10_000),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
TIMEOUT = 20.0
#: Seconds without a message after which a websocket is considered working.
SILENCE = 0.03
#: Parameters of followed logs, terminals and files.
NAMES = (
    "container", "previous", "tail", "since", "timestamps", "wrap", "q", "level", "context", "at", "line",
    "label", "shell", "attach", "path",
)  # fmt: skip
#: The first message on each websocket.
FIRST = {
    "log": '{"follow": "en"}',
    "terminal": '{"begin": "en", "size": [80, 24]}',
    "files": '{"upload": "en", "name": "a", "size": 1}',
}


def paths() -> list[str]:
    """Return a URL of each websocket of a stream."""
    pods = kinds.by_type(PODS)
    assert pods is not None
    key = key_of(visible(pods))
    values = {"cluster": "host", "namespace": key.namespace, "resource": "pods", "name": key.name}
    routes = [str(one.pattern) for one in websocket_urlpatterns]
    found = []
    for route in routes:
        if route.startswith("ws/clusters/"):
            for name, given in values.items():
                route = route.replace(f"<str:{name}>", given)
            found.append(f"/{route}")
    return found


async def error_of(path: str, message: str) -> int:
    """Return the status of the error that the websocket sends after `message`, 0 if it sends none."""

    async def alive() -> bool:
        return True

    socket = WebsocketCommunicator(websocket_application, path)
    access = clusters.host.access_for(Identity(ADMIN))
    socket.scope |= {
        "account": ADMIN,
        "access_in": lambda _cluster: access,
        "session_alive": alive,
        "session": "session",
        "rendered_for": lambda _page: ADMIN,
    }
    connected, _protocol = await socket.connect(timeout=TIMEOUT)
    assert connected
    await socket.send_to(text_data=message)
    try:
        # A followed log sends its sources first, and then waits for lines.
        while not await socket.receive_nothing(timeout=SILENCE, interval=0.001):
            answer = await socket.receive_output(timeout=TIMEOUT)
            text = answer.get("text", "")
            if answer["type"] == "websocket.close" or text.startswith("<"):
                break
            if error := json.loads(text).get("error"):
                return int(error["code"])
        return 0
    finally:
        await socket.disconnect(timeout=TIMEOUT)


def test_every_stream_is_covered() -> None:
    assert {path.rpartition("/")[2] for path in paths()} == set(FIRST)


@given(path=st.sampled_from(paths()), query=query)
@EXAMPLES
async def test_no_query_makes_a_websocket_fail(
    caplog: pytest.LogCaptureFixture, path: str, query: str | list[tuple[int | str, str]]
) -> None:
    message = FIRST[path.rpartition("/")[2]]
    assert await error_of(f"{path}?{encoded(query, NAMES)}", message) < 500
    assert failures(caplog) == []


json_value = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), value),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
field = st.sampled_from(
    ["lang", "at", "begin", "size", "id", "ack", "upload", "name", "replace", "end", "positions"]
)
messages = st.one_of(
    st.text(min_size=1, max_size=40),
    st.dictionaries(field, json_value, max_size=4).map(json.dumps),
)


@given(path=st.sampled_from(paths()), message=messages)
@EXAMPLES
async def test_no_message_makes_a_websocket_fail(
    caplog: pytest.LogCaptureFixture, path: str, message: str
) -> None:
    assert await error_of(path, message) < 500
    assert failures(caplog) == []


@given(path=value, query=query)
@EXAMPLES
async def test_no_address_makes_the_live_websocket_fail(
    caplog: pytest.LogCaptureFixture, path: str, query: str | list[tuple[int | str, str]]
) -> None:
    url = f"{path}?{encoded(query, NAMES)}"
    message = json.dumps({"subscribe": url, "etag": "", "lang": "en"})
    assert await error_of("/ws/live", message) < 500
    assert failures(caplog) == []
