"""Applications (app.k8s.io), which group the objects of an app.

https://github.com/kubernetes-sigs/application/blob/master/docs/api.md
"""

import msgspec

from console.kube.gvr import APPLICATIONS
from console.kube.projections.common import (
    Conditions,
    Decoders,
    Object,
    Projection,
    basics,
    decoder,
    find_condition,
    terminating_or,
)
from console.kube.status import Severity, Status

NAME_LABEL, VERSION_LABEL = "app.kubernetes.io/name", "app.kubernetes.io/version"


class Application(Projection, frozen=True):
    """An Application. `ready` is the number of ready components, such as `2/3`, or ""."""

    status: Status
    version: str
    ready: str


class _Status(msgspec.Struct, gc=False):
    componentsReady: str | None = None
    conditions: Conditions | None = None


class _Application(Object):
    status: _Status | None = None


def _application(item: _Application) -> Application:
    status = item.status or _Status()
    return Application(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _application_status(status)),
        version=(item.metadata.labels or {}).get(VERSION_LABEL, ""),
        ready=status.componentsReady or "",
    )


def _application_status(status: _Status) -> Status:
    error = find_condition(status.conditions, "Error")
    if error is not None and error.status == "True":
        return Status(Severity.ERROR, "Failed", error.text)
    ready = find_condition(status.conditions, "Ready")
    if ready is not None and ready.status == "True":
        return Status(Severity.OK, "Ready")
    return Status(Severity.PROGRESS, "Waiting", ready.text if ready else "")


DECODERS: Decoders = {APPLICATIONS: decoder(_Application, _application)}
