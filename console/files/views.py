"""Files of a container: `…/pods/{name}/files`.

The page works without JavaScript. `format=download` returns a file, or a folder as a tar archive.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _

from console.actions.debugging import Debug
from console.audit.trail import request_action
from console.files.commands import ContainerPlace, FileError, MissingProgram
from console.files.listing import FolderListing, list_folder
from console.files.query import FilesQuery, read_file_name, read_query
from console.files.transfers import MAX_UPLOAD, open_download, upload
from console.kube.errors import ApiError, NotFound
from console.kube.gvr import PODS, Key
from console.live.flow import flow_of
from console.logs.containers import NoContainer
from console.logs.query import BadQuery
from console.streams.download import StreamedBody, download_response
from console.streams.stream import StreamEnded
from console.terminals.consumer import terminal_error_text
from console.terminals.query import TerminalQuery
from console.terminals.target import TerminalTarget, find_target
from console.ui.core.clusters import Cluster
from console.ui.core.kind import NAV_GROUPS, ResourceKind
from console.ui.core.links import action_url, files_url, list_url, object_url
from console.ui.core.permissions import Protected
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import wants_status
from console.ui.core.text import escape_invisible
from console.ui.details.detail import linked_tabs
from console.ui.navigation.page_routes import find_kind
from console.views.errors import error_page, object_not_found
from console.views.guard import access_of
from console.views.page import page, success_redirect

DOWNLOAD = "download"
#: Maximum bytes of a file in a form, which the server keeps in memory. Scripts upload in pieces.
MAX_FORM = 4 * 2**20


@dataclass(frozen=True, slots=True)
class _Asked:
    request: ConsoleRequest
    kind: ResourceKind
    key: Key
    query: FilesQuery
    target: TerminalTarget

    @property
    def container(self) -> str:
        return self.query.container or self.target.container

    def place(self) -> ContainerPlace:
        request = self.request
        if request.presence is None or request.account is None:
            raise PermissionDenied
        return ContainerPlace(
            cluster=request.cluster,
            account=request.account,
            presence=request.presence,
            recorded=request_action(request, "create", PODS, subresource="exec"),
            key=self.key,
            container=self.target.container,
        )

    def url(self, path: str, **others: str) -> str:
        query = FilesQuery(container=self.container, path=path)
        return f"?{query.encoded(**others)}"


@page("GET", "POST", bearer=False, formats=(DOWNLOAD,))
async def files_page(
    request: ConsoleRequest, cluster: Cluster, namespace: str, resource: str, name: str
) -> HttpResponseBase:
    kind = find_kind(cluster, resource)
    if kind is None or kind.gvr != PODS:
        raise Http404
    key = Key(namespace, name)
    try:
        query = read_query(request.GET)
        wanted = TerminalQuery(container=query.container)
        target = await find_target(kind, access_of(request), key, wanted)
        asked = _Asked(request, kind, key, query, target)
        viewing = getattr(request, "viewing", None)
        if viewing is not None and not viewing.writes:
            raise Protected(
                _("You cannot make changes while you view the console as another user.")
            )
        if request.method == "POST":
            return await _upload(asked)
        if request.GET.get("format") == DOWNLOAD:
            return await _download(asked)
        return await _page(asked)
    except (BadQuery, NoContainer) as error:
        return error_page(request, 400, str(error))
    except NotFound:
        return object_not_found(request, kind, key)
    except ApiError as error:
        return error_page(request, error.page_code, terminal_error_text(error))
    except StreamEnded as error:
        return error_page(request, error.code, str(error))


async def _page(asked: _Asked) -> HttpResponse:
    listing, missing, code = FolderListing(()), False, 200
    if not asked.target.problem:
        try:
            listing = await list_folder(asked.place(), asked.query.path)
        except FileError as error:
            listing = FolderListing((), problem=str(error))
            missing = isinstance(error, MissingProgram)
        except ApiError as error:
            if isinstance(error, NotFound) or wants_status(asked.request):
                raise
            listing, code = FolderListing((), problem=terminal_error_text(error)), error.page_code
    context = _context(asked, listing, missing=missing)
    if code != 200:
        context["download_url"] = ""
    return render(asked.request, "console/files.html", context, status=code)


async def _download(asked: _Asked) -> HttpResponseBase:
    if asked.target.problem:
        raise FileError(asked.target.problem)
    flow = flow_of(getattr(asked.request, "scope", {}))
    place, path = asked.place(), asked.query.path
    found, run, pieces = await open_download(place, path, lambda _over: flow.abort())
    body = StreamedBody(pieces, [run], flow)
    if found.is_folder:
        return download_response(body, f"{found.name}.tar", "application/x-tar")
    return download_response(body, found.name, "application/octet-stream")


async def _upload(asked: _Asked) -> HttpResponse:
    if asked.target.problem:
        raise FileError(asked.target.problem)
    given = asked.request.FILES.getlist("file")
    if len(given) != 1:
        raise BadQuery(_("Select one file."))
    [file] = given
    name = read_file_name(file.name or "")
    place, folder = asked.place(), asked.query.path
    replace = asked.request.POST.get("replace") == "1"
    await upload(place, folder, name, _pieces(file), replace=replace)
    words = {"name": name, "folder": escape_invisible(folder)}
    url = f"{asked.request.path}{asked.url(folder)}"
    return success_redirect(asked.request, _("Uploaded %(name)s to %(folder)s.") % words, url)


async def _pieces(file: "UploadedFile[Any]") -> AsyncIterator[bytes]:
    # The file is in memory (`FILE_UPLOAD_MAX_MEMORY_SIZE`).
    for piece in file.chunks(32 * 1024):
        yield piece


def _socket_url(asked: _Asked) -> str:
    """Return the path of the websocket that uploads a file into the folder."""
    names = map(quote, (asked.request.cluster.name, asked.key.namespace, asked.key.name))
    path = "/ws/clusters/{}/projects/{}/pods/{}/files".format(*names)
    return f"{path}{asked.url(asked.query.path)}"


def _context(asked: _Asked, listing: FolderListing, *, missing: bool) -> dict[str, object]:
    cluster, kind, key = asked.request.cluster.name, asked.kind, asked.key
    path, names = asked.query.path, [name for name in asked.query.path.split("/") if name]
    debug = kind.actions_by_name.get(Debug.name) if missing else None
    may_debug = debug is not None and debug.is_allowed(access_of(asked.request), kind.gvr, key)
    own_url = object_url(cluster, kind.segment, key)
    return {
        "kind": kind.view,
        "group": NAV_GROUPS[kind.nav.group],
        "name": key.name,
        "namespace": key.namespace,
        "up_url": list_url(cluster, kind.segment, key.namespace),
        "url": own_url,
        "tabs": linked_tabs(
            access_of(asked.request), kind, key, files_url(cluster, kind.segment, key)
        ),
        "query": asked.query,
        "container": asked.container,
        "target": asked.target,
        "listing": listing,
        "missing": missing,
        "debug_url": action_url(Debug.name, cluster, kind.segment, key) if may_debug else "",
        "crumbs": [
            (name, asked.url("/" + "/".join(names[: at + 1]))) for at, name in enumerate(names)
        ],
        "root_url": asked.url("/"),
        "rows": [
            (
                one,
                asked.url(one.path) if one.path and (one.is_folder or one.is_link) else "",
                asked.url(one.path, format=DOWNLOAD)
                if one.path and (one.is_file or one.is_folder)
                else "",
            )
            for one in listing.entries
        ],
        "download_url": asked.url(path, format=DOWNLOAD) if path != "/" else "",
        "post_url": asked.url(path),
        "socket_url": _socket_url(asked),
        "most": MAX_UPLOAD,
        "most_form": MAX_FORM,
    }
