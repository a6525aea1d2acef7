"""What the cache keeps uncompressed of each kind: one small frozen struct, decoded in one pass.

`DECODERS` says which types the cache knows. A decoder takes an object's JSON and returns the
projection with the object's resourceVersion; it raises `msgspec.DecodeError` for what is no such object.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from console.kube import gvr
from console.kube.projections import generic, iam, pod
from console.kube.projections.iam import GlobalRoleBinding, Subject, User
from console.kube.projections.pod import Pod
from console.kube.store import Decode

DECODERS: Mapping[gvr.GVR, Decode[Any]] = MappingProxyType(
    {
        gvr.PODS: pod.decode,
        gvr.NAMESPACES: generic.decode,
        gvr.NODES: generic.decode,
        gvr.CUSTOM_RESOURCE_DEFINITIONS: generic.decode,
        gvr.CLUSTER_ROLE_BINDINGS: generic.decode,
        gvr.USERS: iam.decode_user,
        gvr.GLOBAL_ROLES: generic.decode,
        gvr.GLOBAL_ROLE_BINDINGS: iam.decode_binding,
    }
)

__all__ = ["DECODERS", "GlobalRoleBinding", "Pod", "Subject", "User"]
