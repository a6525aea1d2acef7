"""Whose group somebody is in: by GroupBindings, and by nothing else."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from console.kube.gvr import CONFIG_MAPS, GROUP_BINDINGS, GROUPS, GVR, ROLES, USERS
from console.kube.informer import Freshness, Informer
from console.kube.projections import DECODERS
from console.views.deciding import is_in_doubt
from rbac.authorizer import SOURCES
from rbac.current import cluster_of
from rbac.liveaccess import LiveAccess
from rbac.memberships import groups_of, is_group_name
from tests.accounts.test_crashes import group, members
from tests.informers import preloaded, take_away
from tests.rbac.fakes import Manifest
from tests.rbac.objects import user
from tests.staticruntime import StaticRuntime

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


def test_what_the_user_says_is_no_group() -> None:
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
def test_nobody_is_in_it(groups: list[Manifest], bindings: list[Manifest]) -> None:
    assert groups_of(world(groups, bindings), "ann") == ()


def test_a_binding_that_names_no_workspace_is_the_groups() -> None:
    found = world([group("red")], [members("1", "red", "ann", workspace="")])
    assert groups_of(found, "ann") == ("red",)


def test_what_is_not_known_gives_nothing() -> None:
    assert groups_of(StaticRuntime({}), "ann") == ()
    found = world([group("red")], [members("1", "red", "ann")])
    found._informers[GROUPS] = Informer(GROUPS, DECODERS[GROUPS])
    assert groups_of(found, "ann") == ()


@pytest.mark.parametrize(
    ("stale", "seconds", "counts"),
    [
        # kube-apiserver is away: nothing can be written either.
        ((USERS, GROUPS, GROUP_BINDINGS), 60, True),
        ((USERS, GROUPS, GROUP_BINDINGS), 360, False),
        # Memberships alone are not followed.
        ((GROUP_BINDINGS,), 5, True),
        ((GROUP_BINDINGS,), 15, False),
        ((GROUPS,), 15, False),
        ((USERS,), 360, True),
    ],
)
def test_memberships_that_may_be_over(stale: tuple[GVR, ...], seconds: int, counts: bool) -> None:
    found = world([group("red")], [members("1", "red", "ann")])
    since = datetime.now(UTC) - timedelta(seconds=seconds)
    for gvr in stale:
        informer: Informer[Any] = found.informer(gvr)
        informer.freshness = replace(informer.freshness, stale_since=since)
    assert bool(groups_of(found, "ann")) is counts


def test_whoever_stays_has_the_groups_of_the_moment() -> None:
    found = world([group("red")], [members("1", "red", "ann")])
    access = LiveAccess("ann", cluster_of("host", StaticRuntime({})), found)
    assert [*access.identity.groups] == ["red"]
    take_away(found.informer(GROUP_BINDINGS), members("1", "red", "ann"))
    assert [*access.identity.groups] == []


def test_whoever_stays_is_in_doubt_while_the_cluster_is() -> None:
    found = world([group("red")], [])
    runtime = StaticRuntime({gvr: preloaded(gvr, []) for gvr in SOURCES})
    access = LiveAccess("ann", cluster_of("host", runtime), found)
    assert not is_in_doubt(access)
    roles: Informer[Any] = runtime.informer(ROLES)
    roles.freshness = replace(roles.freshness, stale_since=datetime.now(UTC))
    assert is_in_doubt(access)
    roles.freshness = Freshness()
    assert is_in_doubt(access), "no list has come yet"


def test_nobody_is_in_doubt_for_a_type_that_rights_are_not_made_of() -> None:
    """One that the reader may not list would make "The cluster does not answer" of each refusal."""
    widgets = preloaded(CONFIG_MAPS)
    widgets.freshness = Freshness(stale_since=datetime.now(UTC), problem="Forbidden")
    sources = {gvr: preloaded(gvr, []) for gvr in SOURCES}
    runtime = StaticRuntime({**sources, CONFIG_MAPS: widgets})
    access = LiveAccess("ann", cluster_of("host", runtime), world([group("red")], []))
    assert not is_in_doubt(access)


@pytest.mark.parametrize("name", ["", " ", "system:masters", "a\nb", "é", "a "])
def test_what_cannot_be_a_group(name: str) -> None:
    assert not is_group_name(name)
