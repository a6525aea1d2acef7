"""The quick start: three fields to a Deployment with a Service and an Ingress."""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import DEPLOYMENTS
from console.kube.names import is_dns_label
from console.ui.wizard import fields
from console.ui.wizard.fields import BoundField, Text
from console.ui.wizard.parts import Group
from console.ui.wizard.paths import Blocked, Path, remove_at, value_at, write_at
from console.ui.wizard.state import FieldScope, FormState
from console.ui.wizard.wizard import Step, name_of
from console.wizards import metadata, pods, workloads
from console.wizards.pod_paths import POD
from console.wizards.resources import RESOURCES
from console.wizards.workloads import INGRESS, REPLICAS, SERVICE, new_ingress, new_service

_CONTAINER: Path = (*POD, "containers", 0)
_PORT: Path = (*_CONTAINER, "ports", 0, "containerPort")


@dataclass(frozen=True, kw_only=True)
class AppPort(fields.NumberInput):
    """The first port of a container, which may have none yet."""

    def apply(self, scope: FieldScope) -> None:
        post = scope.state.post
        given = self.posted(post, f"{scope.prefix}{self.id}") if post is not None else None
        # The empty field must not remove a port of the image that was added with the same request.
        if not given and scope.state.act.startswith(f"{scope.prefix}{pods.IMAGE.id}.port."):
            return
        if given and not scope.get("ports"):
            with suppress(Blocked):
                write_at(scope.document, (*scope.base, "ports"), [{}])
        super().apply(scope)
        if given is not None and scope.get("ports") == [{}]:
            remove_at(scope.document, (*scope.base, "ports"), scope.floor)


@dataclass(frozen=True, kw_only=True)
class PublicHost(fields.TextInput):
    """The host name of the draft's Ingress, which exists only with a host name."""

    def bind(self, scope: FieldScope) -> BoundField:
        return super().bind(scope.in_slot(INGRESS))

    def apply(self, scope: FieldScope) -> None:
        state, inner = scope.state, scope.in_slot(INGRESS)
        given = self.posted(state.post, f"{inner.prefix}{self.id}") if state.post else None
        if given is None:
            return
        if given.strip() and INGRESS not in state.documents:
            state.documents[INGRESS] = new_ingress(state)
        super().apply(inner)
        if not given.strip():
            state.documents.pop(INGRESS, None)

    def strip(self, scope: FieldScope) -> None:
        super().strip(scope.in_slot(INGRESS))


def suggested_name(state: FormState) -> str:
    """Return a name for the workload: the start of its host name, or the name of its image."""
    host = value_at(state.documents.get(INGRESS), ("spec", "rules", 0, "host"))
    image = value_at(state.documents[""], (*_CONTAINER, "image"))
    words = (
        host.partition(".")[0] if isinstance(host, str) else "",
        pods.image_name(image) if isinstance(image, str) else "",
    )
    names = [re.sub("[^a-z0-9]+", "-", word.lower())[:63].strip("-") for word in words]
    return next((name for name in names if is_dns_label(name)), "")


@dataclass(frozen=True, kw_only=True)
class QuickStart(Group):
    """The fields of the quick start. Name and Service follow them."""

    def apply(self, scope: FieldScope) -> None:
        state = scope.state
        before, port = suggested_name(state), scope.get(*_PORT)
        with suppress(Blocked):
            if not scope.get(*POD, "containers"):
                write_at(scope.document, (*POD, "containers"), [{"name": "app"}])
        super().apply(scope)
        # What another type of value blocks is left to YAML.
        with suppress(Blocked):
            name = suggested_name(state)
            if name and name_of(scope.document) in ("", before):
                write_at(scope.document, ("metadata", "name"), name)
            if scope.get(*_PORT) != port:
                self._serve(state, scope.get(*_PORT))

    def _serve(self, state: FormState, port: Any) -> None:
        """Create or change the Service for the port. Without a port, remove it."""
        if not isinstance(port, int):
            if INGRESS not in state.documents:
                state.documents.pop(SERVICE, None)
            return
        service = state.documents.setdefault(SERVICE, new_service(state))
        ports = value_at(service, ("spec", "ports"))
        if not isinstance(ports, list) or len(ports) <= 1:
            write_at(service, ("spec", "ports"), [{"port": 80, "targetPort": port}])


def _host_problem(value: str, scope: FieldScope) -> Text:
    port = FieldScope(scope.state).get(*_PORT)
    if not isinstance(port, int):
        return _("Enter the port that the app listens on, too.")
    return fields.dns_subdomain(value.removeprefix("*."), scope)


_APP_PORT = AppPort(
    id="port",
    path=("ports", 0, "containerPort"),
    label=gettext_lazy("Port the app listens on"),
    hint=gettext_lazy("Leave empty if the app does not accept connections."),
    least=1,
    most=fields.MAX_PORT,
)
_HOST = PublicHost(
    id="host",
    path=("spec", "rules", 0, "host"),
    label=gettext_lazy("Public host name"),
    hint=gettext_lazy("Leave empty to keep the app inside the cluster."),
    placeholder="shop.example.com",
    max_length=253,
    is_marked=True,
    check=_host_problem,
)
NAME, PROJECT = metadata.basics(DEPLOYMENTS, fields.dns_label).parts

QUICK_START = Step(
    id="quick",
    title=gettext_lazy("Quick start"),
    hint=gettext_lazy("Three fields to an app that runs and has an address."),
    parts=(
        QuickStart(
            parts=(
                Group(path=_CONTAINER, parts=(pods.IMAGE, _APP_PORT)),
                Group(parts=(_HOST, PROJECT)),
                Group(
                    title=gettext_lazy("Name"),
                    is_advanced=True,
                    now=lambda scope: (
                        name_of(scope.document) or _("From the host name or the image")
                    ),
                    parts=(NAME,),
                ),
                Group(
                    title=gettext_lazy("Replicas"),
                    is_advanced=True,
                    now=lambda scope: str(scope.get("spec", "replicas") or 1),
                    parts=(REPLICAS,),
                ),
                Group(
                    title=gettext_lazy("Resources"),
                    is_advanced=True,
                    path=_CONTAINER,
                    now=lambda scope: (
                        _("Customized")
                        if scope.has("resources")
                        else _("The defaults of the project")
                    ),
                    parts=RESOURCES.parts,
                ),
                Group(
                    title=gettext_lazy("Environment"),
                    is_advanced=True,
                    path=_CONTAINER,
                    now=lambda scope: (
                        ", ".join(str(one.get("name")) for one in scope.mappings("env"))
                        or _("No variables")
                    ),
                    parts=(pods.VARIABLES,),
                ),
                Group(
                    title=gettext_lazy("Health check"),
                    is_advanced=True,
                    path=_CONTAINER,
                    now=lambda scope: (
                        _("Customized")
                        if scope.has("readinessProbe")
                        else _("None. A pod is ready when its process starts.")
                    ),
                    parts=(pods.READINESS,),
                ),
            )
        ),
    ),
)

DEPLOYMENT = replace(workloads.DEPLOYMENT, quick=QUICK_START)
