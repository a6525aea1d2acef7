"""Open container logs with the viewer's permissions."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from console.audit.trail import Action as Recorded
from console.audit.trail import request_action
from console.kube.errors import ApiError, BadRequest, NotFound, Unavailable
from console.kube.gvr import PODS, Key
from console.logs.query import LogQuery
from console.logs.sources import Source
from console.streams.stream import Order, Over, Stream
from console.ui.clusters import Cluster
from console.ui.http import ConsoleRequest
from console.ui.logs import READ_LOG
from console.ui.presence import Presence
from console.ui.text import visible
from console.ui.words import spoken
from console.views import problems


@dataclass(frozen=True, slots=True)
class Wanted:
    """A container whose log is requested.

    `mark`: the label of its lines if several logs are shown. `uid`: the UID of the pod, set
    where another pod may later have the same name.
    """

    key: Key
    container: str
    mark: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A log that can't be read, and the error."""

    wanted: Wanted
    error: ApiError

    def __str__(self) -> str:
        return why(self.error)


def why(error: ApiError) -> str:
    """Return the translated reason why a log can't be read."""
    if isinstance(error, BadRequest):
        # The message comes from the kubelet, which is the only component that knows the reason.
        return visible(spoken(error.message))
    if isinstance(error, NotFound):
        return _("The pod no longer exists.")
    if error.code >= 500 and not isinstance(error, Unavailable):
        # The original message contains the node's address, so it is not shown.
        return _("The node of the pod is not responding.")
    return problems.words(error, unsure=_("The cluster did not respond."))


@dataclass(frozen=True, slots=True)
class Viewer:
    """The user who reads the logs. `recorded` returns the audit event for the log of a pod."""

    cluster: Cluster
    account: str
    presence: Presence
    recorded: Callable[[Key], Recorded]

    @classmethod
    def of(cls, request: ConsoleRequest) -> "Viewer":
        if request.presence is None or request.account is None:
            raise PermissionDenied

        def recorded(key: Key) -> Recorded:
            return request_action(
                request, "get", PODS, namespace=key.namespace, name=key.name, subresource="log"
            )

        return cls(request.cluster, request.account, request.presence, recorded)

    def order(self, wanted: Wanted, params: Sequence[tuple[str, str]]) -> Order:
        key = wanted.key
        return Order(
            cluster=self.cluster,
            account=self.account,
            presence=self.presence,
            rights=(READ_LOG,),
            gvr=PODS,
            key=key,
            recorded=self.recorded(key),
            path=PODS.path(key.namespace, key.name, "log"),
            params=params,
        )


async def open_all(
    viewer: Viewer,
    wanted: Sequence[Wanted],
    query: LogQuery,
    on_over: Callable[[Over], None] | None = None,
) -> tuple[list[Source], list[Unreadable]]:
    """Open the logs of `wanted`. Return the open sources, which the caller must close, and the
    unreadable logs.

    Raise `Denied`, `TooMany` or `AuditUnavailable`; no stream stays open in that case.
    """

    async def open_one(one: Wanted) -> Source | Unreadable:
        stream = Stream(viewer.order(one, query.request_params(one.container)), on_over)
        try:
            await stream.open()
        except ApiError as error:
            return Unreadable(one, error)
        return Source(one.mark, stream)

    found = await asyncio.gather(*map(open_one, wanted), return_exceptions=True)
    failed = [one for one in found if isinstance(one, BaseException)]
    sources = [one for one in found if isinstance(one, Source)]
    refused = [one for one in found if isinstance(one, Unreadable)]
    if failed:
        await close_all(sources)
        raise failed[0]
    return sources, refused


async def close_all(sources: Sequence[Source]) -> None:
    await asyncio.gather(*(source.stream.close() for source in sources))
