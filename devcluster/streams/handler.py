"""Handler of exec, attach and port-forward requests."""

import asyncio
from collections.abc import Coroutine
from contextlib import aclosing, suppress
from typing import Any

from aiohttp import web

from devcluster.authn import TokenFile
from devcluster.controllers.behaviour import Behaviour
from devcluster.controllers.pod_lifecycle import (
    crashed_status,
    debug_ended_status,
    ended_status,
    ready_status,
    restarted_status,
)
from devcluster.crud import Objects
from devcluster.errors import StatusError, bad_request, forbidden, method_not_allowed
from devcluster.handlers import Handlers
from devcluster.logs.options import read_log_options
from devcluster.logs.runs import container_of
from devcluster.logs.streaming import LogStream
from devcluster.objects import Obj, dicts, dig, meta, timestamp
from devcluster.rbac import attributes_of
from devcluster.releases import Release
from devcluster.requests import Request
from devcluster.shell.images import shell_of
from devcluster.shell.processes import Container
from devcluster.streams import forwarding
from devcluster.streams.commands import (
    V4,
    V5,
    CommandConnection,
    StreamOptions,
    container_stop_event,
    exit_status,
    run_command,
    success,
    wait_for_result,
)
from devcluster.streams.containers import Containers
from devcluster.streams.targets import KubeletError, TargetContainer, pod_on_node, running_container
from devcluster.streams.websockets import choose_protocol, is_websocket, open_websocket
from devcluster.write_options import Write

SUBRESOURCES = frozenset({"attach", "exec", "portforward"})
_MOST = 500
_FROM_NOW_ON = read_log_options("", {"follow": "true", "tailLines": "0"})


class StreamHandler:
    """The open connections. Requests are already authorized for their verb."""

    def __init__(self, handlers: Handlers, tokens: TokenFile, release: Release) -> None:
        self._handlers, self._objects = handlers, handlers.objects
        self._containers = Containers(handlers.objects.store, tokens)
        self._commands = (V5, V4) if release.closes_streams else (V4,)
        spdy = (forwarding.SPDY,) if release.forwards_spdy else ()
        self._ports = (*spdy, forwarding.V4, "")
        self._open: set[asyncio.Task[None]] = set()

    async def answer(self, request: web.Request, call: Request) -> web.StreamResponse:
        """Handle a request. Raise `StatusError` for errors of kube-apiserver; errors of a kubelet
        are plain text responses.
        """
        subresource = call.declared.subresource(call.info.subresource)
        if subresource is None or call.info.verb not in subresource.verbs:
            raise method_not_allowed()
        self._require_create(call)
        record = self._objects.get(call.declared, call.info.namespace, call.info.name)
        forward = call.info.subresource == "portforward"
        name = "" if forward else container_of(record.load(), request.query.get("container", ""))
        pod = pod_on_node(record)
        if not is_websocket(request):
            raise bad_request("Upgrade request required")
        try:
            if len(self._open) >= _MOST:
                raise KubeletError(503, "too many connections")
            if forward:
                return await self._forward(request, pod)
            return await self._command(request, call, pod, name)
        except KubeletError as refusal:
            return web.Response(status=refusal.code, text=refusal.text)

    def close(self) -> None:
        """Close all connections."""
        for task in self._open:
            task.cancel()

    def _require_create(self, call: Request) -> None:
        """Check the `create` permission. The GET request of a websocket needs it too, because it
        has side effects.
        """
        info = call.info
        decision = self._handlers.rbac.authorize(attributes_of(call.user, "create", info))
        if not decision.allowed:
            raise forbidden(info.group, info.resource, info.name, decision.reason)

    async def _wait(self, running: "asyncio.Task[None]") -> None:
        """Wait for the task. Cancel it when the request is canceled or the server stops."""
        self._open.add(running)
        try:
            # Clients often end a session by closing the connection.
            with suppress(ConnectionError, TimeoutError, asyncio.CancelledError):
                await running
        finally:
            self._open.discard(running)
            running.cancel()

    # Commands -----------------------------------------------------------------------------------

    async def _command(
        self, request: web.Request, call: Request, pod: Obj, name: str
    ) -> web.StreamResponse:
        wanted, attach = StreamOptions.from_request(request), call.info.subresource == "attach"
        target = running_container(pod, name)
        if target is None:
            full = f"{meta(pod)['name']}_{meta(pod)['namespace']}"
            text = f"container {name} not found in pod {full}" if attach else ""
            raise KubeletError(500, text or f'container not found ("{name}")')
        protocol, container = choose_protocol(request, self._commands), self._containers.get(target)
        websocket = await open_websocket(request, protocol)
        connection = CommandConnection(websocket, protocol, wanted)
        if attach:
            work = self._attach(connection, container, target, wanted)
        else:
            command = request.query.getall("command", [])
            work = self._execute(connection, container, target, command, protocol)
        await self._wait(asyncio.create_task(work))
        return websocket

    async def _execute(
        self,
        connection: CommandConnection,
        container: Container,
        target: TargetContainer,
        command: list[str],
        protocol: str,
    ) -> None:
        await connection.send_open()
        work = run_command(connection, container, target, command)
        with container_stop_event(self._objects.store.collection("pods"), target) as stopped:
            result = await wait_for_result(work, stopped, connection)
        if result is not None:
            status = exit_status(result, command, protocol) if isinstance(result, int) else result
            await connection.finish(status)

    async def _attach(
        self,
        connection: CommandConnection,
        container: Container,
        target: TargetContainer,
        wanted: StreamOptions,
    ) -> None:
        await connection.send_open()
        work: Coroutine[Any, Any, int | bool | Obj]
        shell = shell_of(container.main) if wanted.stdin and target.reads else ()
        if wanted.tty != target.tty:
            # Without a matching terminal mode there is no output.
            work = asyncio.Event().wait()
        elif shell:
            work = run_command(connection, container, target, shell)
        else:
            work = self._stream_log(connection, target)
        with container_stop_event(self._objects.store.collection("pods"), target) as stopped:
            result = await wait_for_result(work, stopped, connection)
        if shell and isinstance(result, int) and not stopped.is_set():
            end_container(self._objects, target, result)
        if result is not None:
            await connection.finish(success())

    async def _stream_log(self, connection: CommandConnection, target: TargetContainer) -> bool:
        """Stream new log lines until stdin is closed or the log ends."""
        pods = self._objects.store.collection("pods")
        reading = LogStream(pods, target.pod, target.name, _FROM_NOW_ON)
        stdout = connection.streams().stdout
        ending = asyncio.create_task(connection.stdin_ended.wait())
        ending.add_done_callback(lambda _: reading.close())
        try:
            async with aclosing(reading.chunks()) as chunks:
                async for chunk in chunks:
                    await stdout.write(chunk)
        finally:
            ending.cancel()
        return True

    # Ports --------------------------------------------------------------------------------------

    async def _forward(self, request: web.Request, pod: Obj) -> web.StreamResponse:
        protocol = choose_protocol(request, self._ports)
        ports = [] if protocol == forwarding.SPDY else forwarding.ports_of(request)
        websocket = await open_websocket(request, protocol)
        if protocol == forwarding.SPDY:
            work = forwarding.SpdyTunnel(websocket, pod).run()
        else:
            work = forwarding.forward_channels(websocket, pod, ports)
        await self._wait(asyncio.create_task(work))
        # A kubelet closes the connection without a close frame.
        if request.transport:
            request.transport.close()
        return websocket


def end_container(objects: Objects, target: TargetContainer, code: int) -> None:
    """Update the pod status after the user exited the shell that is the container's main process.

    Do nothing if the pod was deleted.
    """
    namespace, _, name = target.key.partition("/")

    def mutate(pod: Obj) -> Obj:
        return {**pod, "status": _after(pod, target, code)}

    try:
        pods = objects.registry.get("pods")
        objects.update(pods, "v1", namespace, name, mutate, Write(subresource="status"))
    except StatusError as error:
        if error.code != 404:
            raise


def _after(pod: Obj, target: TargetContainer, code: int) -> Obj:
    now, policy = timestamp(), dig(pod, "spec.restartPolicy")
    if target.name in [one.get("name") for one in dicts(dig(pod, "spec.ephemeralContainers"))]:
        return debug_ended_status(pod, target.name, code, now)
    if policy == "Never" or (policy == "OnFailure" and code == 0):
        return ended_status(pod, code, now)
    how = Behaviour(exit_code=code, reason="Completed" if code == 0 else "Error")
    stopped = {**pod, "status": crashed_status(pod, how, now, backing_off=False)}
    again = {**pod, "status": restarted_status(stopped, now)}
    return ready_status(again, now)
