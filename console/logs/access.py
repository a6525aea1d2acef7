"""Open container logs with the viewer's permissions."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from console.audit.trail import AuditAction as Recorded
from console.audit.trail import request_action
from console.kube.errors import ApiError
from console.kube.gvr import PODS, Key
from console.logs.lines import MAX_LINE_BYTES
from console.logs.query import LogQuery
from console.logs.sources import LogSource
from console.streams.stream import ResponseStream, StreamEnded, StreamRequest
from console.ui.core.clusters import Cluster
from console.ui.core.container_actions import READ_LOG
from console.ui.core.requests import ConsoleRequest, UserSession
from console.views.problems import pod_error_text


@dataclass(frozen=True, slots=True)
class ContainerLog:
    """A container whose log is requested.

    `mark`: the label of its lines if several logs are shown. `uid`: the UID of the pod, set
    where another pod may later have the same name.
    """

    key: Key
    container: str
    mark: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class UnreadableLog:
    """A log that can't be read, and the error."""

    wanted: ContainerLog
    error: ApiError

    def __str__(self) -> str:
        return log_error_text(self.error)


def log_error_text(error: ApiError) -> str:
    """Return the translated reason why a log can't be read."""
    silent = _("The node of the pod is not responding.")
    return pod_error_text(error, silent=silent, unsure=_("The cluster did not respond."))


@dataclass(frozen=True, slots=True)
class LogViewer:
    """The user who reads the logs. `recorded`: the audit event, without the pod."""

    cluster: Cluster
    account: str
    presence: UserSession
    recorded: Recorded

    @classmethod
    def of(cls, request: ConsoleRequest) -> "LogViewer":
        if request.presence is None or request.account is None:
            raise PermissionDenied
        recorded = request_action(request, "get", PODS, subresource="log")
        return cls(request.cluster, request.account, request.presence, recorded)

    def order(self, wanted: ContainerLog, params: Sequence[tuple[str, str]]) -> StreamRequest:
        key = wanted.key
        return StreamRequest(
            cluster=self.cluster,
            account=self.account,
            presence=self.presence,
            rights=(READ_LOG,),
            gvr=PODS,
            key=key,
            recorded=replace(self.recorded, namespace=key.namespace, name=key.name),
            path=PODS.path(key.namespace, key.name, "log"),
            params=params,
        )


async def open_all(
    viewer: LogViewer,
    wanted: Sequence[ContainerLog],
    query: LogQuery,
    on_over: Callable[[StreamEnded], None] | None = None,
    *,
    verbatim: bool = False,
    longest: int = MAX_LINE_BYTES,
) -> tuple[list[LogSource], list[UnreadableLog]]:
    """Open the logs of `wanted`. Return the open sources, which the caller must close, and the
    unreadable logs.

    `verbatim`: request the bytes that kubectl prints. `longest`: maximum bytes of a line.
    Raise `Denied`, `TooMany` or `AuditUnavailable`; no stream stays open in that case.
    """

    async def open_one(one: ContainerLog) -> LogSource | UnreadableLog:
        params = query.request_params(one.container, verbatim=verbatim)
        stream = ResponseStream(viewer.order(one, params), on_over)
        try:
            await stream.open()
        except ApiError as error:
            return UnreadableLog(one, error)
        named = f"pod/{one.key.name}/{one.container}"
        return LogSource(one.mark, stream, kubectl_name=named, longest=longest)

    found = await asyncio.gather(*map(open_one, wanted), return_exceptions=True)
    failed = [one for one in found if isinstance(one, BaseException)]
    sources = [one for one in found if isinstance(one, LogSource)]
    refused = [one for one in found if isinstance(one, UnreadableLog)]
    if failed:
        await close_all(sources)
        raise failed[0]
    return sources, refused


async def close_all(sources: Sequence[LogSource]) -> None:
    await asyncio.gather(*(source.stream.close() for source in sources))
