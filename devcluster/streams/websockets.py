"""Websocket helpers of exec, attach and port-forward."""

from collections.abc import Sequence

from aiohttp import WSMsgType, hdrs, web

from devcluster.streams.targets import KubeletError

#: Message size limit of kube-apiserver, in bytes.
_LARGEST = 32 * 1024 * 1024
_CLOSE_SECONDS = 1.0


def is_websocket(request: web.Request) -> bool:
    connection = request.headers.get(hdrs.CONNECTION, "").lower()
    return "upgrade" in connection and request.headers.get(hdrs.UPGRADE, "").lower() == "websocket"


def choose_protocol(request: web.Request, known: Sequence[str]) -> str:
    """Return the first offered protocol that the server supports. An empty string means no
    subprotocol.
    """
    if request.method != hdrs.METH_GET:
        raise KubeletError(405, "bad method")
    if "*/*" not in request.headers.get(hdrs.ACCEPT, "*/*"):
        raise KubeletError(406, "406: Not Acceptable\n\nAvailable representations: ")
    lines = request.headers.getall(hdrs.SEC_WEBSOCKET_PROTOCOL, [])
    offered = [word.strip() for line in lines for word in line.split(",")] or [""]
    for protocol in offered:
        if protocol in known:
            return protocol
    names = " ".join(filter(None, known))
    raise KubeletError(
        403, f"requested protocol(s) are not supported: {offered}; supports [{names}]"
    )


async def open_websocket(request: web.Request, protocol: str) -> web.WebSocketResponse:
    opened = web.WebSocketResponse(
        protocols=(protocol,) if protocol else (),
        compress=False,
        max_msg_size=_LARGEST,
        timeout=_CLOSE_SECONDS,
    )
    await opened.prepare(request)
    return opened


async def next_message(websocket: web.WebSocketResponse) -> bytes | None:
    """Return the next message, or None if the connection is closed."""
    message = await websocket.receive()
    if message.type is WSMsgType.BINARY:
        return bytes(message.data)
    return str(message.data).encode() if message.type is WSMsgType.TEXT else None
