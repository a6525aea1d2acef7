"""`resources.kubesphere.io/v1alpha3`: lists and objects of every kind."""

from typing import Any

from console.gateway.kapis.call import Call, ObjectList
from console.gateway.kapis.objects import (
    check_namespace,
    find_kind,
    get_object,
    list_objects,
    not_found,
)
from console.gateway.kapis.query import LIST_PARAMETERS, read_list
from console.gateway.kapis.routes import LIST, route
from console.kube.gvr import Key
from console.ui.core.kind import Scope

_GROUP = "resources.kubesphere.io/v1alpha3"


@route(
    *("GET", _GROUP, "/{resources}"),
    summary="List the objects of a type, in all namespaces that you have access to",
    returns=LIST,
    query=LIST_PARAMETERS,
)
async def list_everywhere(call: Call, resources: str) -> ObjectList:
    return await list_objects(call, find_kind(call, resources), read_list(call))


@route(
    *("GET", _GROUP, "/namespaces/{namespace}/{resources}"),
    summary="List the objects of a type in a namespace",
    returns=LIST,
    query=LIST_PARAMETERS,
)
async def list_in_namespace(call: Call, namespace: str, resources: str) -> ObjectList:
    kind = find_kind(call, resources)
    check_namespace(kind, namespace)
    return await list_objects(call, kind, read_list(call), (namespace,))


@route(*("GET", _GROUP, "/{resources}/{name}"), summary="Get an object that is not in a namespace")
async def get_cluster_object(call: Call, resources: str, name: str) -> Any:
    kind = find_kind(call, resources)
    if kind.scope is Scope.NAMESPACED:
        raise not_found(f"{kind.gvr.qualified} {name}")
    return await get_object(call, kind, Key("", name))


@route(
    *("GET", _GROUP, "/namespaces/{namespace}/{resources}/{name}"),
    summary="Get an object in a namespace",
)
async def get_in_namespace(call: Call, namespace: str, resources: str, name: str) -> Any:
    kind = find_kind(call, resources)
    check_namespace(kind, namespace)
    return await get_object(call, kind, Key(namespace, name))
