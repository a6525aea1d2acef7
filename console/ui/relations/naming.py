"""Which types name which, and so by which types one can be named."""

from collections.abc import Mapping

from console.kube import gvr as types
from console.kube.gvr import GVR
from console.ui.relations.references import TEMPLATES

_SPEC = (
    types.CONFIG_MAPS,
    types.SECRETS,
    types.PERSISTENT_VOLUME_CLAIMS,
    types.SERVICE_ACCOUNTS,
    types.PRIORITY_CLASSES,
)
_ROUTE = (types.GATEWAYS, types.SERVICES)

#: What the objects of a type can name. What matters most to people stands first.
NAMES: Mapping[GVR, tuple[GVR, ...]] = {
    **dict.fromkeys(TEMPLATES, _SPEC),
    types.STATEFUL_SETS: (*_SPEC, types.SERVICES),
    types.PODS: (*_SPEC, types.NODES),
    types.INGRESSES: (types.SERVICES, types.SECRETS, types.INGRESS_CLASSES),
    types.HTTP_ROUTES: _ROUTE,
    types.GRPC_ROUTES: _ROUTE,
    types.GATEWAYS: (types.SECRETS, types.GATEWAY_CLASSES),
    types.ENDPOINT_SLICES: (types.SERVICES,),
    types.HORIZONTAL_POD_AUTOSCALERS: (
        types.DEPLOYMENTS,
        types.STATEFUL_SETS,
        types.REPLICA_SETS,
    ),
    types.SERVICE_ACCOUNTS: (types.SECRETS,),
    types.PERSISTENT_VOLUME_CLAIMS: (types.PERSISTENT_VOLUMES, types.STORAGE_CLASSES),
    types.PERSISTENT_VOLUMES: (types.PERSISTENT_VOLUME_CLAIMS, types.STORAGE_CLASSES),
    types.VOLUME_SNAPSHOTS: (
        types.PERSISTENT_VOLUME_CLAIMS,
        types.VOLUME_SNAPSHOT_CONTENTS,
        types.VOLUME_SNAPSHOT_CLASSES,
    ),
    types.VOLUME_SNAPSHOT_CONTENTS: (types.VOLUME_SNAPSHOTS, types.VOLUME_SNAPSHOT_CLASSES),
    types.ROLE_BINDINGS: (
        types.ROLES,
        types.CLUSTER_ROLES,
        types.SERVICE_ACCOUNTS,
        types.USERS,
    ),
    types.CLUSTER_ROLE_BINDINGS: (types.CLUSTER_ROLES, types.SERVICE_ACCOUNTS, types.USERS),
}
#: Told by panels of their own: the pods of a node, the endpoints of a service.
_ELSEWHERE = {(types.PODS, types.NODES), (types.ENDPOINT_SLICES, types.SERVICES)}


def named_by(gvr: GVR) -> tuple[GVR, ...]:
    """The types whose objects can name one of this type."""
    return tuple(
        user for user, named in NAMES.items() if gvr in named and (user, gvr) not in _ELSEWHERE
    )
