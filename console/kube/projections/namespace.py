"""Namespaces, which the interface calls projects.

The namespace controller reports what blocks a deletion in conditions (NamespaceConditionType of
the core API). KubeSphere's labels and annotations contain the workspace, the alias and the
creator.
"""

from sys import intern

import msgspec

from console.kube.group_kind import group_kind
from console.kube.gvr import NAMESPACES, WORKSPACES
from console.kube.projections.common import (
    Conditions,
    Decoders,
    Object,
    Projection,
    annotation,
    basics,
    decoder,
    find_condition,
)
from console.kube.status import Severity, Status

WORKSPACE_LABEL = "kubesphere.io/workspace"
#: Set while a project is being created: permissions are granted only after its quota exists.
PREPARING_ANNOTATION = "quarterdeck.io/preparing"
#: Namespaces of the cluster and the console. They belong to no tenant, regardless of labels and
#: owners.
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
#: The workspace that always exists. The cluster's system namespaces have its label but no other
#: properties of a project.
SYSTEM_WORKSPACE = "system-workspace"
ISOLATE_ANNOTATION = "kubesphere.io/network-isolate"
_WORKSPACE = group_kind("Workspace", WORKSPACES.group)
_ALIAS, _CREATOR = "kubesphere.io/alias-name", "kubesphere.io/creator"

#: Conditions that block a deletion until a problem is fixed.
_BLOCKED = (
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",
)
#: Conditions for remaining objects. Finalizers explain more than the content that waits for them.
_REMAINING = ("NamespaceFinalizersRemaining", "NamespaceContentRemaining")


class Namespace(Projection, frozen=True, gc=False):
    """A namespace.

    `alias` is the display name and `creator` the user who created it; both may be "".
    `preparing` is True while the console creates it. `isolated` is the network isolation set by
    its own annotation.
    """

    status: Status
    workspace: str
    alias: str
    creator: str
    preparing: bool
    isolated: bool

    @property
    def owning_workspace(self) -> str:
        """Return the name of the workspace that owns the namespace, or ""."""
        kind, _slash, name = self.owner.partition("/")
        return name if kind == _WORKSPACE else ""


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
    """Return the text of a condition that is true, or ""."""
    found = find_condition(status.conditions, name)
    return found.text if found is not None and found.status == "True" else ""


DECODERS: Decoders = {NAMESPACES: decoder(_Namespace, _project)}
