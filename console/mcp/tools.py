"""The tools of the endpoint. Each is a function from its arguments to a text for the client."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from msgspec import Meta

from console.kube.gvr import EVENTS, PODS, Key
from console.mcp.pages import PageError, Pages
from console.ui.core.clusters import HOST, Cluster, clusters
from console.ui.core.kind import ResourceKind
from console.ui.core.kind_names import kind_named
from console.ui.core.links import (
    detail_url,
    edit_url,
    import_draft_url,
    import_url,
    list_url,
    object_url,
    proposal_url,
)
from console.ui.navigation.page_routes import find_kind

#: Maximum characters of a result.
MAX_TEXT = 100_000
#: Maximum log lines and objects of a call.
MAX_LINES, MAX_OBJECTS = 2000, 200
#: Maximum characters of a manifest or of the other arguments.
_MAX_MANIFEST, _MAX_ARGUMENT = 2 * 2**20, 512
_EVENTS_SHOWN = 20

#: Names are parts of paths.
_NAME = r"^[^/\s]*$"

ClusterName = Annotated[str, Meta(max_length=63, description="Name of the cluster.")]
KindName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=320,
        description="Kind, such as pods, Deployment, deploy or certificates.cert-manager.io.",
    ),
]
Namespace = Annotated[
    str,
    Meta(
        pattern=_NAME,
        max_length=63,
        description="Namespace (project). Empty for cluster-scoped objects.",
    ),
]
OptionalNamespace = Annotated[
    str,
    Meta(
        pattern=_NAME,
        max_length=63,
        description="Namespace (project). Empty for all visible namespaces.",
    ),
]
Name = Annotated[str, Meta(pattern=_NAME, min_length=1, max_length=253)]
OptionalName = Annotated[
    str, Meta(pattern=_NAME, max_length=253, description="Name of the object.")
]
OptionalKind = Annotated[str, Meta(max_length=320, description="Kind of the object.")]
Selector = Annotated[
    str, Meta(max_length=_MAX_ARGUMENT, description="Label selector, such as app=web,tier!=cache.")
]


class Arguments(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    cluster: ClusterName = HOST


class Search(Arguments):
    query: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=253,
            description="Words that must all match, and labels such as app=web. A first word that "
            "names a kind restricts the search to this kind.",
        ),
    ]


class ListObjects(Arguments):
    kind: KindName
    namespace: OptionalNamespace = ""
    selector: Selector = ""
    text: Annotated[str, Meta(max_length=253, description="Words that the objects contain.")] = ""
    limit: Annotated[int, Meta(ge=1, le=MAX_OBJECTS)] = 50
    page: Annotated[int, Meta(ge=1, le=100_000)] = 1


class ObjectArguments(Arguments):
    kind: KindName
    name: Name
    namespace: Namespace = ""


class Logs(Arguments):
    namespace: Annotated[str, Meta(pattern=_NAME, min_length=1, max_length=63)]
    kind: KindName = PODS.resource
    name: OptionalName = ""
    selector: Annotated[
        str, Meta(max_length=_MAX_ARGUMENT, description="Selects pods if there is no name.")
    ] = ""
    container: Annotated[
        str, Meta(max_length=253, description="Container, or * for all containers.")
    ] = ""
    previous: Annotated[
        bool, Meta(description="Read the log of the container before its last restart.")
    ] = False
    lines: Annotated[int, Meta(ge=1, le=MAX_LINES)] = 200
    since: Annotated[
        str, Meta(max_length=40, description="Duration such as 15m, or a time in RFC 3339.")
    ] = ""
    text: Annotated[str, Meta(max_length=200, description="Only lines with this text.")] = ""
    level: Literal["", "error", "warn", "info", "debug"] = ""


class Events(Arguments):
    namespace: OptionalNamespace = ""
    kind: OptionalKind = ""
    name: OptionalName = ""
    type: Literal["", "Warning", "Normal"] = ""
    limit: Annotated[int, Meta(ge=1, le=MAX_OBJECTS)] = 50


class Problems(Arguments):
    namespace: OptionalNamespace = ""
    kind: OptionalKind = ""
    name: OptionalName = ""


class Proposal(Arguments):
    reason: Annotated[
        str, Meta(min_length=1, max_length=_MAX_ARGUMENT, description="Why. Shown to the user.")
    ]
    manifest: Annotated[
        str,
        Meta(
            max_length=_MAX_MANIFEST,
            description="YAML with one or more objects to create or update. Applied on the server, "
            "so fields of existing objects that the YAML doesn't contain are kept.",
        ),
    ] = ""
    patch: Annotated[
        dict[str, Any],
        Meta(description="JSON merge patch (RFC 7386) of one object, instead of a manifest."),
    ] = {}
    kind: OptionalKind = ""
    name: OptionalName = ""
    namespace: Annotated[
        str,
        Meta(
            pattern=_NAME,
            max_length=63,
            description="Namespace of the patched object, or of objects that don't set one.",
        ),
    ] = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `run` raises `PageError`. `description` is for the client's model."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Pages, Any], Awaitable[str]]
    reads: bool = True


async def _search(pages: Pages, asked: Search) -> str:
    params = {"q": asked.query, "cluster": asked.cluster, "format": "json"}
    return _text(await _read(pages, reverse("search"), params))


async def _list(pages: Pages, asked: ListObjects) -> str:
    params: dict[str, str | int] = {
        "namespace": asked.namespace,
        "label": asked.selector,
        "q": asked.text,
        "limit": asked.limit,
        "page": asked.page,
        "format": "json",
    }
    kind = _kind(asked)
    return _text(await _read(pages, list_url(asked.cluster, kind.segment), params))


async def _describe(pages: Pages, asked: ObjectArguments) -> str:
    return _text(await _object(pages, asked, _kind(asked)))


async def _object(
    pages: Pages, asked: ObjectArguments | Problems, kind: ResourceKind
) -> dict[str, Any]:
    """Return what the object's page shows: columns, cause of its state, events and manifest."""
    key = Key(asked.namespace, asked.name)
    if kind.view.namespaced != bool(key.namespace):
        text = _("Set the namespace for objects in projects, and for no others.")
        raise PageError(400, text)
    url = detail_url(asked.cluster, kind.segment, key)
    found = await _read(pages, url, {"format": "json"})
    about = f"{kind.api_kind}/{key.name}"
    events = await _events_about(pages, asked.cluster, key.namespace, about)
    page = f"{settings.BASE_URL}{object_url(asked.cluster, kind.segment, key)}"
    return {"url": page, "events": events, **found}


async def _events_about(
    pages: Pages, cluster: str, namespace: str, about: str
) -> list[Mapping[str, Any]] | None:
    """Return the last events of an object, or None if the user may not list events."""
    params: dict[str, str | int] = {"namespace": namespace, "object": about, "limit": _EVENTS_SHOWN}
    url = list_url(cluster, EVENTS.resource)
    try:
        found: list[Mapping[str, Any]] = (await _read(pages, url, {**params, "format": "json"}))[
            "items"
        ]
    except PageError:
        return None
    return found


async def _logs(pages: Pages, asked: Logs) -> str:
    if bool(asked.name) is bool(asked.selector):
        raise PageError(400, _("Set either a name or a selector."))
    params: dict[str, str | int] = {
        "container": asked.container,
        "previous": int(asked.previous),
        "tail": asked.lines,
        "since": asked.since,
        "q": asked.text,
        "level": asked.level,
        "format": "text",
    }
    kind = _kind(asked)
    if asked.selector:
        params["label"] = asked.selector
        url = reverse("log_of_labels", args=(asked.cluster, asked.namespace))
    else:
        url = reverse("log", args=(asked.cluster, asked.namespace, kind.segment, asked.name))
    found = await pages.get(url, params, newest=True)
    text = found.decode(errors="replace")
    if len(text) <= MAX_TEXT:
        return text
    note = _("The oldest lines are left out.")
    return f"{note}\n{text[-MAX_TEXT:].partition(chr(10))[2]}"


async def _events(pages: Pages, asked: Events) -> str:
    _cluster(asked.cluster)
    if bool(asked.kind) is not bool(asked.name):
        raise PageError(400, _("Set both kind and name, or neither."))
    about = f"{_kind(asked).api_kind}/{asked.name}" if asked.kind else ""
    params: dict[str, str | int] = {
        "namespace": asked.namespace,
        "object": about,
        "type": asked.type,
        "limit": asked.limit,
        "format": "json",
    }
    return _text(await _read(pages, list_url(asked.cluster, EVENTS.resource), params))


async def _explain(pages: Pages, asked: Problems) -> str:
    _cluster(asked.cluster)
    place = (asked.cluster, asked.namespace) if asked.namespace else (asked.cluster,)
    overview = reverse("project_overview" if asked.namespace else "cluster_overview", args=place)
    if bool(asked.kind) is not bool(asked.name):
        raise PageError(400, _("Set both kind and name, or neither."))
    if not asked.kind:
        return _text(await _read(pages, overview, {"format": "json"}))
    shown = await _object(pages, asked, _kind(asked))
    status = shown["manifest"].get("status") or {}
    found = {one: shown.get(one) for one in ("url", "status", "cause", "events")}
    found["conditions"] = status.get("conditions")
    try:
        attention = await _read(pages, overview, {"format": "json"})
        lines = attention["problems"]
        found["problems"] = [one for one in lines if one["name"] == asked.name]
    except PageError:
        # The overview needs more permissions than the object.
        found["problems"] = None
    return _text(found)


async def _propose(pages: Pages, asked: Proposal) -> str:
    if bool(asked.manifest.strip()) is bool(asked.patch):
        raise PageError(400, _("Set either a manifest or a patch."))
    path = await (_propose_patch if asked.patch else _propose_manifest)(pages, asked)
    url = f"{settings.BASE_URL}{path}"
    text = _("Nothing was changed. The user reviews and applies the change at this address.")
    return _text({"reviewUrl": url, "note": text})


async def _propose_manifest(pages: Pages, asked: Proposal) -> str:
    _cluster(asked.cluster)
    fields = {"text": asked.manifest, "namespace": asked.namespace}
    await pages.post(import_url(asked.cluster), {**fields, "step": "review"})
    draft = secrets.token_hex(8)
    saved = {**fields, "proposal": asked.reason}
    await pages.post(import_draft_url(asked.cluster, draft), saved)
    return import_url(asked.cluster, draft=draft)


async def _propose_patch(pages: Pages, asked: Proposal) -> str:
    kind, key = _kind(asked), Key(asked.namespace, asked.name)
    if not key.name or kind.view.namespaced != bool(key.namespace):
        raise PageError(400, _("Set kind, name and namespace of the patched object."))
    patch = msgspec.json.encode(asked.patch).decode()
    where = asked.cluster, kind.segment, key
    await pages.post(proposal_url(*where), {"patch": patch, "proposal": asked.reason})
    return f"{edit_url(*where)}?draft=continue"


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "search",
            "Search",
            "Search objects of all kinds by name, label and other texts.",
            Search,
            _search,
        ),
        Tool(
            "list",
            "List objects",
            "List objects of a kind with the columns that the console shows, including their status.",
            ListObjects,
            _list,
        ),
        Tool(
            "describe",
            "Describe an object",
            "Return an object: its manifest (values of Secrets are hidden), status, the cause of a "
            "problem, and its last events.",
            ObjectArguments,
            _describe,
        ),
        Tool(
            "logs",
            "Read logs",
            "Return the newest log lines of a pod, of a workload's pods, or of the pods that a label "
            "selector matches.",
            Logs,
            _logs,
        ),
        Tool(
            "events",
            "List events",
            "List events, the latest first, of a namespace or of one object.",
            Events,
            _events,
        ),
        Tool(
            "explain_problems",
            "Explain problems",
            "List objects with problems, each with its cause in plain words and since when it "
            "applies. With a kind and a name: explain the state of this object.",
            Problems,
            _explain,
        ),
        Tool(
            "propose_change",
            "Propose a change",
            "Check a change with a dry run and save it as a draft. Nothing is changed: the result is "
            "the address where the user reviews and applies the draft in the browser. Give this "
            "address to the user.",
            Proposal,
            _propose,
            reads=False,
        ),
    )
}


def _cluster(name: str) -> Cluster:
    cluster = clusters.get(name)
    if cluster is None:
        raise PageError(404, _("The cluster was not found."))
    return cluster


def _kind(asked: Any) -> ResourceKind:
    """Return the kind that the arguments name. Raise `PageError`."""
    cluster = _cluster(asked.cluster)
    found = find_kind(cluster, asked.kind) or kind_named(cluster.kinds, asked.kind)
    if found is None:
        raise PageError(404, _("The cluster has no kind with this name."))
    return found


async def _read(pages: Pages, url: str, params: Mapping[str, str | int]) -> Any:
    try:
        return msgspec.json.decode(await pages.get(url, params))
    except msgspec.DecodeError as error:
        raise PageError(413, _("The result is too large. Restrict the request.")) from error


def _text(value: Any) -> str:
    found = msgspec.json.encode(value).decode()
    if len(found) <= MAX_TEXT:
        return found
    cut = _("The result was cut off here. Restrict the request.")
    return f"{found[:MAX_TEXT]}…\n{cut}"
