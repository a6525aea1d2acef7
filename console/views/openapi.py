"""OpenAPI schema of a kind, which the editor uses for completion and validation.

Schemas are equal for all users who may read kube-apiserver's OpenAPI. The index is requested with
the viewer's permissions, so kube-apiserver authorizes access. Documents are cached by their hash and
shared. The forms of a wizard remember the hash for a viewer for `REMEMBERED` seconds.
"""

import re
import time
from collections.abc import Hashable

import msgspec
from django.http import Http404, HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext as _

from console.kube.api_discovery import document_hash, document_path, kind_schema
from console.kube.clients import UserClient
from console.kube.errors import ApiError, Unavailable
from console.kube.identity import Identity
from console.kube.names import is_dotted_name
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.lru_cache import LruCache
from console.ui.core.requests import ConsoleRequest
from console.ui.editing.schema_check import KindSchema
from console.views.errors import error_page
from console.views.guard import access_of
from console.views.page import page

#: Name of the core group in URLs.
CORE = "core"
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")

#: Cached schemas by cluster, document, hash, and kind. The largest have 300 kB.
_schemas: LruCache[tuple[str, str, str, str], bytes] = LruCache(
    places=100, room=10 * 2**20, idle=3600, name="schemas"
)

#: Seconds for which the hash of a document in the index is used again for the same viewer.
REMEMBERED = 30
_hashes: LruCache[tuple[str, Identity, str, Hashable, int], str] = LruCache(
    places=1000, room=2**17, idle=REMEMBERED, name="schema_hashes"
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
    etag = f'"{found}"' if found else None
    unchanged = get_conditional_response(request, etag=etag) if etag else None
    if unchanged is not None:
        return unchanged
    schema = await find_schema(cluster, client, (group, version, kind), found)
    if schema is None:
        return error_page(request, 404, _("The cluster has no schema for this kind."))
    response = HttpResponse(schema, content_type="application/json")
    if etag:
        response["ETag"] = etag
    return response


async def find_schema(
    cluster: Cluster, client: UserClient, named: tuple[str, str, str], found: str | None
) -> bytes | None:
    """Return the schema of a kind (group, version, kind) as JSON, or None if the cluster has none.
    `found` is the hash of its document (`document_hash`). Raise `ApiError`.
    """
    group, version, kind = named
    path = document_path(group, version)
    if found is None:
        return None
    key = (cluster.name, path, found, kind)
    schema = _schemas.find(key) if found else None
    if schema is not None:
        return schema
    made = kind_schema(await client.get_openapi(path), group, version, kind)
    return _schemas.get(key, lambda: made) if found and made is not None else made


async def read_schema(
    cluster: Cluster, client: UserClient, named: tuple[str, str, str], found: str | None = None
) -> KindSchema | None:
    """Return the schema of a kind (group, version, kind), or None if the viewer may not read it or
    the cluster has none. `found` is the hash of its document if it was read before. Raise
    `Unavailable`.
    """
    try:
        if found is None:
            found = document_hash(await client.get_openapi(), document_path(*named[:2]))
        read = await find_schema(cluster, client, named, found)
    except ApiError as error:
        if isinstance(error, Unavailable):
            raise
        return None
    if read is None:
        return None
    schema = msgspec.json.decode(read)
    return KindSchema(schema, schema["components"]["schemas"])


async def remembered_schema(access: Access, named: tuple[str, str, str]) -> KindSchema | None:
    """Like `read_schema`, for the steps of a form: the index is read at most every `REMEMBERED`
    seconds for the same viewer with the same permissions.
    """
    cluster, rights = access.cluster, access.rights_version()
    client, path = cluster.runtime.as_user(access.identity), document_path(*named[:2])
    key = (cluster.name, access.identity, path, rights, int(time.monotonic() // REMEMBERED))
    found = _hashes.find(key) if rights else None
    if found is None:
        try:
            found = document_hash(await client.get_openapi(), path)
        except ApiError as error:
            if isinstance(error, Unavailable):
                raise
            return None
        if found and rights:
            _hashes.get(key, lambda: found or "")
    return await read_schema(cluster, client, named, found or "") if found is not None else None
