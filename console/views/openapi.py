"""OpenAPI schema of a kind, which the editor uses for completion and validation.

Schemas are equal for all users who may read kube-apiserver's OpenAPI. The index is requested
each time with the viewer's permissions, so kube-apiserver authorizes access. Documents are
cached by their hash and shared.
"""

import re

from django.http import Http404, HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext as _

from console.kube.api_discovery import document_hash, document_path, kind_schema
from console.kube.names import is_dotted_name
from console.ui.core.clusters import Cluster
from console.ui.core.lru_cache import LruCache
from console.ui.core.requests import ConsoleRequest
from console.views.errors import error_page
from console.views.guard import access_of
from console.views.page import page

#: Name of the core group in URLs.
CORE = "core"
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")

#: Cached schemas by cluster, document, hash, and kind. The largest have 300 kB.
_schemas: LruCache[tuple[str, str, str, str], bytes] = LruCache(
    places=100, room=10 * 2**20, idle=3600
)


@page("GET")
async def openapi_schema(
    request: ConsoleRequest, cluster: Cluster, group: str, version: str, kind: str
) -> HttpResponse:
    """GET /clusters/{cluster}/openapi/{group}/{version}/{kind}: JSON with a reference to the kind's
    schema (`$ref`) and the required `components`. The core group is named `core`.
    """
    if not (is_dotted_name(group) and _NAME.fullmatch(version) and _NAME.fullmatch(kind)):
        raise Http404
    group = "" if group == CORE else group
    path = document_path(group, version)
    client = cluster.runtime.as_user(access_of(request).identity)
    found = document_hash(await client.get_openapi(), path)
    if found is None:
        return _unknown(request)
    etag = f'"{found}"' if found else None
    unchanged = get_conditional_response(request, etag=etag)
    if unchanged is not None:
        return unchanged
    key = (cluster.name, path, found, kind)
    schema = _schemas.find(key) if found else None
    if schema is None:
        made = kind_schema(await client.get_openapi(path), group, version, kind)
        if made is None:
            return _unknown(request)
        schema = _schemas.get(key, lambda: made) if found else made
    response = HttpResponse(schema, content_type="application/json")
    if etag:
        response["ETag"] = etag
    return response


def _unknown(request: ConsoleRequest) -> HttpResponse:
    return error_page(request, 404, _("The cluster has no schema for this kind."))
