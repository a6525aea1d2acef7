"""HTTP servers of simulated containers, which show a page with information about the container."""

import asyncio
import html
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from aiohttp import web

from devcluster.logs.runs import declared_containers
from devcluster.objects import Obj, dicts, dig, meta
from devcluster.streams.targets import TargetContainer, running_container

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{pod}</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;margin:4em auto;max-width:36em}}
th{{text-align:left;padding-right:2em;font-weight:500;color:#667}}</style></head>
<body><h1>{pod}</h1><p>This page comes from a container of the embedded cluster.</p>
<table>{rows}</table></body>
</html>
"""


def listening_container(pod: Obj, port: int) -> TargetContainer | None:
    """Return the running container that listens on the port, or None."""
    for declared in declared_containers(pod):
        ports = [one.get("containerPort") for one in dicts(declared.get("ports"))]
        if port in ports and (found := running_container(pod, str(declared["name"]))):
            return found
    return None


def page_response(target: TargetContainer, method: str, path: str) -> web.Response:
    """Return the response of the container. `path` includes the query."""
    if path.partition("?")[0] in ("/healthz", "/livez", "/readyz"):
        return web.Response(text="ok\n")
    pod = target.pod
    about = {
        "Namespace": meta(pod)["namespace"],
        "Container": target.name,
        "Image": target.declared.get("image", ""),
        "Node": dig(pod, "spec.nodeName"),
        "Address": dig(pod, "status.podIP"),
        "Request": f"{method} {path}",
        "Time": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
    }
    rows = "".join(
        f"<tr><th>{name}</th><td>{html.escape(str(value))}</td></tr>"
        for name, value in about.items()
    )
    text = _PAGE.format(pod=html.escape(str(meta(pod)["name"])), rows=rows)
    return web.Response(text=text, content_type="text/html", headers={"Server": "devcluster"})


@asynccontextmanager
async def connect(
    pod: Obj, port: int
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Open a connection to the port of the pod. Raise ConnectionRefusedError if no container
    listens on it.
    """
    target = listening_container(pod, port)
    if target is None:
        raise ConnectionRefusedError

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return page_response(target, request.method, request.path_qs)

    server = web.Server(handle, access_log=None)
    inner, outer = socket.socketpair()
    inner.setblocking(False)
    await asyncio.get_running_loop().connect_accepted_socket(server, inner)
    reader, writer = await asyncio.open_connection(sock=outer)
    try:
        yield reader, writer
    finally:
        writer.close()
        await server.shutdown(0)
