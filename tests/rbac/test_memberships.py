"""Group membership comes only from GroupBindings."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from console.kube.gvr import CONFIG_MAPS, GROUP_BINDINGS, GROUPS, GVR, ROLES, USERS
from console.kube.informer import Freshness, Informer
from console.kube.projections import DECODERS
from console.views.authorization import permissions_may_be_stale
from rbac.authorizer import SOURCES
from rbac.live_access import LiveAccess
from rbac.memberships import groups_of, is_group_name
from rbac.process_clusters import create_cluster
from tests.rbac.fakes import Manifest
from tests.rbac.objects import user
from tests.support.groups import group, members
from tests.support.informers import preloaded, take_away
from tests.support.staticruntime import StaticRuntime

GONE = {"deletionTimestamp": "2026-03-01T12:00:00Z"}


def world(groups: list[Manifest], bindings: list[Manifest]) -> StaticRuntime:
    objects: dict[GVR, list[Manifest]] = {
        USERS: [{**user("ann"), "spec": {"email": "", "groups": ["admins", "system:masters"]}}],
        GROUPS: groups,
        GROUP_BINDINGS: bindings,
    }
    return StaticRuntime({gvr: preloaded(gvr, items) for gvr, items in objects.items()})


def test_a_member_has_the_groups_of_all_bindings_once() -> None:
    found = world(
        [group("red"), group("blue"), group("green")],
        [
            members("1", "red", "ann", "bob"),
            members("2", "blue", "ann"),
            members("3", "red", "ann"),
        ],
    )
    assert groups_of(found, "ann") == ("blue", "red")
    assert groups_of(found, "bob") == ("red",)
    assert groups_of(found, "cyd") == ()


def test_groups_in_the_user_spec_are_ignored() -> None:
    assert groups_of(world([group("admins")], []), "ann") == ()


@pytest.mark.parametrize(
    ("groups", "bindings"),
    [
        ([], [members("1", "red", "ann")]),
        ([group("red", **GONE)], [members("1", "red", "ann")]),
        ([group("red")], [members("1", "red", "ann", **GONE)]),
        ([group("red")], [members("1", "red", "ann", workspace="other")]),
        ([group("red", workspace="")], [members("1", "red", "ann", workspace="acme")]),
        ([group("system:masters")], [members("1", "system:masters", "ann")]),
        ([group(" red")], [members("1", " red", "ann")]),
        ([group("")], [members("1", "", "ann")]),
        ([group("rød")], [members("1", "rød", "ann")]),
    ],
)
def test_invalid_groups_and_bindings_grant_no_membership(
    groups: list[Manifest], bindings: list[Manifest]
) -> None:
    assert groups_of(world(groups, bindings), "ann") == ()


def test_a_binding_without_workspace_label_counts() -> None:
    found = world([group("red")], [members("1", "red", "ann", workspace="")])
    assert groups_of(found, "ann") == ("red",)


def test_unloaded_groups_grant_no_membership() -> None:
    assert groups_of(StaticRuntime({}), "ann") == ()
    found = world([group("red")], [members("1", "red", "ann")])
    found._informers[GROUPS] = Informer(GROUPS, DECODERS[GROUPS])
    assert groups_of(found, "ann") == ()


@pytest.mark.parametrize(
    ("stale", "seconds", "counts"),
    [
        # kube-apiserver is unavailable, so nothing can be written either.
        ((USERS, GROUPS, GROUP_BINDINGS), 60, True),
        ((USERS, GROUPS, GROUP_BINDINGS), 360, False),
        # Only the membership watches are stale.
        ((GROUP_BINDINGS,), 5, True),
        ((GROUP_BINDINGS,), 15, False),
        ((GROUPS,), 15, False),
        ((USERS,), 360, True),
    ],
)
def test_stale_memberships_expire(stale: tuple[GVR, ...], seconds: int, counts: bool) -> None:
    found = world([group("red")], [members("1", "red", "ann")])
    since = datetime.now(UTC) - timedelta(seconds=seconds)
    for gvr in stale:
        informer: Informer[Any] = found.informer(gvr)
        informer.freshness = replace(informer.freshness, stale_since=since)
    assert bool(groups_of(found, "ann")) is counts


def test_live_access_follows_group_changes() -> None:
    found = world([group("red")], [members("1", "red", "ann")])
    access = LiveAccess("ann", create_cluster("host", StaticRuntime({})), found)
    assert [*access.identity.groups] == ["red"]
    take_away(found.informer(GROUP_BINDINGS), members("1", "red", "ann"))
    assert [*access.identity.groups] == []


def test_live_access_is_stale_while_role_sources_are_stale() -> None:
    found = world([group("red")], [])
    runtime = StaticRuntime({gvr: preloaded(gvr, []) for gvr in SOURCES})
    access = LiveAccess("ann", create_cluster("host", runtime), found)
    assert not permissions_may_be_stale(access)
    roles: Informer[Any] = runtime.informer(ROLES)
    roles.freshness = replace(roles.freshness, stale_since=datetime.now(UTC))
    assert permissions_may_be_stale(access)
    roles.freshness = Freshness()
    assert permissions_may_be_stale(access), "no list has come yet"


def test_a_stale_unrelated_type_does_not_make_permissions_stale() -> None:
    """Otherwise a type that the console may not list would turn each refusal into "The cluster does
    not answer".
    """
    widgets = preloaded(CONFIG_MAPS)
    widgets.freshness = Freshness(stale_since=datetime.now(UTC), problem="Forbidden")
    sources = {gvr: preloaded(gvr, []) for gvr in SOURCES}
    runtime = StaticRuntime({**sources, CONFIG_MAPS: widgets})
    access = LiveAccess("ann", create_cluster("host", runtime), world([group("red")], []))
    assert not permissions_may_be_stale(access)


@pytest.mark.parametrize("name", ["", " ", "system:masters", "a\nb", "é", "a "])
def test_invalid_group_names(name: str) -> None:
    assert not is_group_name(name)
