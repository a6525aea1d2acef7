"""Namespaces, which people here know as projects.

What keeps one from going is in the conditions that its controller sets while it empties it
(NamespaceConditionType of the core API). KubeSphere's labels and annotations say whose it is.
"""

from sys import intern

import msgspec

from console.kube.gvr import NAMESPACES
from console.kube.projections.common import (
    Conditions,
    Decoders,
    Object,
    Projection,
    annotation,
    basics,
    decoder,
    find,
)
from console.kube.status import Severity, Status

WORKSPACE_LABEL = "kubesphere.io/workspace"
#: On a project that is being made: nobody has rights in it until its quota is there.
PREPARING_ANNOTATION = "quarterdeck.io/preparing"
#: The cluster's own and the console's: they belong to no tenant, whatever their labels and owners say.
SYSTEM_NAMESPACES = frozenset(
    {
        "kube-node-lease",
        "kube-public",
        "kube-system",
        "kubesphere-system",
        "quarterdeck-kubeconfigs",
        "quarterdeck-system",
    }
)
ISOLATE_ANNOTATION = "kubesphere.io/network-isolate"
_ALIAS, _CREATOR = "kubesphere.io/alias-name", "kubesphere.io/creator"

#: Deletion does not go on by itself: something must be repaired.
_BLOCKED = (
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",
)
#: What is still there; finalizers tell more than the content that waits for them.
_REMAINING = ("NamespaceFinalizersRemaining", "NamespaceContentRemaining")


class Namespace(Projection, frozen=True, gc=False):
    """`alias`: the name that people gave it; `creator`: the user who made it; both may be "".
    `preparing`: the console is not done making it. `isolated`: by its own annotation."""

    status: Status
    workspace: str
    alias: str
    creator: str
    preparing: bool
    isolated: bool


class _Status(msgspec.Struct, gc=False):
    phase: str = ""
    conditions: Conditions | None = None


class _Namespace(Object, gc=False):
    status: _Status | None = None


def _project(value: _Namespace) -> Namespace:
    meta = value.metadata
    return Namespace(
        **basics(meta),
        status=_status(value, value.status or _Status()),
        workspace=intern((meta.labels or {}).get(WORKSPACE_LABEL, "")),
        alias=annotation(meta, _ALIAS),
        creator=intern(annotation(meta, _CREATOR)),
        preparing=bool(annotation(meta, PREPARING_ANNOTATION)),
        isolated=annotation(meta, ISOLATE_ANNOTATION) == "enabled",
    )


def _status(namespace: _Namespace, status: _Status) -> Status:
    if namespace.metadata.deletionTimestamp is None and status.phase != "Terminating":
        return Status(Severity.OK, "Active")
    told = [found for name in _BLOCKED if (found := _true(status, name))]
    if told:
        return Status(Severity.WARN, "Deletion blocked", told[0])
    told = [found for name in _REMAINING if (found := _true(status, name))]
    return Status(Severity.ENDING, "Terminating", told[0] if told else "")


def _true(status: _Status, name: str) -> str:
    """What the condition says, "" unless it is true."""
    found = find(status.conditions, name)
    return found.text if found is not None and found.status == "True" else ""


DECODERS: Decoders = {NAMESPACES: decoder(_Namespace, _project)}
