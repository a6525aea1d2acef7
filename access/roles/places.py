"""Which role an address names, and what its viewer may do with it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext_lazy

from console.kube.current import get_runtime
from console.kube.factory import UnknownKind
from console.kube.gvr import GVR, ROLE_BINDINGS, Key
from console.kube.informer import Informer
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.decisions import Denied, NotArrived
from rbac.builtin import Origin, origin_of
from rbac.current import get_levels
from rbac.holders import Holding, holders
from rbac.levels import NATIVE, TYPES, Level, RoleScope
from rbac.rules import Question, Rules, parse_rules


class RolesUnknown(NotArrived):
    """The first list of a type that is needed is not there yet."""

    text = gettext_lazy("The roles have not arrived from the cluster.")


@dataclass(frozen=True, slots=True)
class Role:
    """One that there is."""

    place: RoleScope
    entry: Entry[Any]

    @property
    def name(self) -> str:
        return self.entry.key.name

    @property
    def rules(self) -> Rules:
        return parse_rules(self.entry.original().get("rules"))

    @property
    def annotations(self) -> dict[str, str]:
        return self.entry.original()["metadata"].get("annotations") or {}

    @property
    def origin(self) -> Origin:
        role = self.entry.projection
        return origin_of(
            self.place.level,
            role.name,
            role.labels,
            template=role.template,
            workspace=role.workspace,
        )

    @property
    def url(self) -> str:
        return role_url(self.place, self.name)

    def act_url(self, act: str) -> str:
        return role_url(self.place, self.name, act)


def role_url(place: RoleScope, name: str, act: str = "") -> str:
    given = (act,) if act else ()
    if place.level is Level.PROJECT:
        return reverse("access:project_role", args=(place.namespace, name, *given))
    return reverse("access:role", args=(place.level.value, name, *given))


def shown_url(access: Access, place: RoleScope, name: str) -> str:
    """The role's page; "" for whoever may not see it, where there is none, and before that is known."""
    try:
        role = find_role(access, place.level, place.namespace, name)
    except (Denied, RolesUnknown, Http404):
        return ""
    return role.url if role is not None else ""


def list_url(place: RoleScope) -> str:
    if place.level is Level.WORKSPACE and place.workspace:
        return reverse("access:workspace_roles", args=(place.workspace,))
    query = {"level": place.level.value, "namespace": place.namespace}
    return _with_query(reverse("access:roles"), query)


def new_url(place: RoleScope, source: str = "") -> str:
    """Where a role of this place is made, with the rules of `source` if that is a role."""
    query = {"from": source, "workspace": place.workspace, "namespace": place.namespace}
    return _with_query(reverse("access:new_role", args=(place.level.value,)), query)


def _with_query(url: str, query: Mapping[str, str]) -> str:
    given = {name: value for name, value in query.items() if value}
    return f"{url}?{urlencode(given)}" if given else url


def level_of(text: str) -> Level:
    try:
        return Level(text)
    except ValueError:
        raise Http404 from None


def informer_of(gvr: GVR) -> Informer[Any]:
    """Raises `RolesUnknown`, and Http404 where the cluster has no such type."""
    try:
        informer = get_runtime().informer(gvr)
    except UnknownKind as error:
        raise Http404 from error
    if not informer.freshness.synced:
        raise RolesUnknown
    return informer


def may(access: Access, verb: str, gvr: GVR, place: RoleScope, name: str = "") -> bool:
    """By Kubernetes, or for what it cannot decide by the roles of the platform and the workspace."""
    return may_natively(access, verb, gvr, place, name) or may_by_role(
        access, verb, gvr, place, name
    )


def may_natively(access: Access, verb: str, gvr: GVR, place: RoleScope, name: str = "") -> bool:
    return access.can(verb, gvr, namespace=place.namespace, name=name)


def may_by_role(access: Access, verb: str, gvr: GVR, place: RoleScope, name: str = "") -> bool:
    if place.level in NATIVE or (place.level is Level.WORKSPACE and not place.workspace):
        return False
    asked = Question(verb, gvr.group, gvr.resource, name=name)
    return get_levels().may(access.identity, asked, place)


def seen_holders(access: Access, role: Role) -> Iterator[Holding]:
    """Whoever holds it, for a viewer who may see the bindings of its place. A role of the cluster may be
    given in projects as well; there they are left out whose project's bindings the viewer may not see."""
    of_cluster = role.place.level is Level.CLUSTER
    projects = access.namespaces_where("list", ROLE_BINDINGS) if of_cluster else None
    for one in holders(access.cluster.runtime, role.place, role.name):
        if not one.namespace or projects is None or one.namespace in projects:
            yield one


def find_role(access: Access, level: Level, namespace: str, name: str) -> Role | None:
    """None if there is none, which only those learn who may list all of them. Raises `Denied`,
    `RolesUnknown`."""
    gvr = TYPES[level].roles
    entry = informer_of(gvr).store.get(Key(namespace, name))
    role = role_of(level, entry) if entry is not None else None
    # Of one that is missing it asks in no workspace, so that it is forbidden to the same people.
    if not may(access, "get", gvr, role.place if role else RoleScope(level, "", namespace), name):
        raise Denied("get", gvr, namespace)
    return role


def role_of(level: Level, entry: Entry[Any]) -> Role:
    workspace = entry.projection.workspace if level is Level.WORKSPACE else ""
    return Role(RoleScope(level, workspace, entry.key.namespace), entry)
