"""Opening the logs of containers as whoever looks at them."""

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
    """A container of a pod. `mark`: how its lines are marked where there are several. `uid`: the pod's,
    where another one may take its name."""

    key: Key
    container: str
    mark: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """One whose log cannot be read, and why."""

    wanted: Wanted
    error: ApiError

    def __str__(self) -> str:
        return why(self.error)


def why(error: ApiError) -> str:
    """What keeps a log from being read, in words."""
    if isinstance(error, BadRequest):
        # Of the kubelet, and the only one who knows.
        return visible(spoken(error.message))
    if isinstance(error, NotFound):
        return _("The pod is gone.")
    if error.code >= 500 and not isinstance(error, Unavailable):
        # The cluster's own words have the address of the node.
        return _("The node of the pod does not answer.")
    return problems.words(error, unsure=_("The cluster did not answer."))


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who reads. `recorded`: what the trail says of the log of a pod."""

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
    """The logs that can be read, to be closed by the caller, and the others. Raises `Denied`, `TooMany`
    and `AuditUnavailable`; then none is open."""

    async def open_one(one: Wanted) -> Source | Unreadable:
        stream = Stream(viewer.order(one, query.asked(one.container)), on_over)
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
