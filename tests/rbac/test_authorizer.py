"""Who may do what, and that every doubt is a no."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube.gvr import GLOBAL_ROLE_BINDINGS, GVR, NAMESPACES, PODS, USERS
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.kube.runtime import StaticRuntime
from console.ui.access import Access
from rbac.authorizer import Authorizer
from tests.rbac.fakes import START, MovableClock
from tests.rbac.objects import binding, user

SECRETS = GVR("", "v1", "secrets")
ADMIN, ALICE = Identity("admin"), Identity("alice")


class World:
    def __init__(self) -> None:
        self.users = Informer.preloaded(USERS, [user("admin"), user("alice"), user("system-x")])
        self.bindings = Informer.preloaded(
            GLOBAL_ROLE_BINDINGS,
            [
                binding("admins", ("User", "admin")),
                binding("viewers", ("User", "alice"), role="platform-regular"),
            ],
        )
        self.clock = MovableClock()
        source = StaticRuntime({USERS: self.users, GLOBAL_ROLE_BINDINGS: self.bindings})
        self.authorizer = Authorizer(source, clock=self.clock)

    def can(self, identity: Identity, verb: str = "list", gvr: GVR = PODS, **of: Any) -> bool:
        return self.authorizer.access_for(identity).can(verb, gvr, **of)


@pytest.fixture
def world() -> World:
    return World()


def test_an_admin_may_do_everything(world: World) -> None:
    access = world.authorizer.access_for(ADMIN)
    assert isinstance(access, Access)
    assert access.identity == ADMIN
    for verb in ("get", "list", "watch", "create", "delete", "impersonate"):
        assert access.can(verb, PODS, namespace="shop", name="web")
    assert access.can("create", PODS, namespace="shop", subresource="exec")
    assert access.namespaces_where("list", PODS) is None


def test_everybody_else_may_do_nothing(world: World) -> None:
    for identity in (ALICE, Identity("nobody"), Identity("Admin"), Identity("admin2")):
        assert not world.can(identity)
        assert not world.can(identity, "get", NAMESPACES, name="default")
        assert world.authorizer.access_for(identity).namespaces_where("list", PODS) == frozenset()


def test_a_binding_counts_as_soon_as_the_cache_has_it_and_no_longer(world: World) -> None:
    access = world.authorizer.access_for(ALICE)
    world.bindings.apply(binding("more", ("User", "alice")))
    assert access.can("delete", PODS)
    world.bindings.remove(binding("more", ("User", "alice")))
    assert not access.can("list", PODS)


@pytest.mark.parametrize("state", ["Disabled", "Whatever"])
def test_a_user_who_may_not_sign_in_has_no_rights(world: World, state: str) -> None:
    world.users.apply(user("admin", state=state))
    assert not world.can(ADMIN)


def test_a_lock_for_failed_attempts_takes_no_rights(world: World) -> None:
    world.users.apply(user("admin", state="AuthLimitExceeded"))
    assert world.can(ADMIN)


def test_a_user_who_is_gone_or_going_has_no_rights(world: World) -> None:
    world.users.apply(user("admin", deletionTimestamp="2026-03-01T12:00:00Z"))
    assert not world.can(ADMIN)
    world.users.apply(user("admin"))
    assert world.can(ADMIN)
    world.users.remove(user("admin"))
    assert not world.can(ADMIN)


def test_groups_count_if_they_are_the_identitys(world: World) -> None:
    world.bindings.apply(binding("ops", ("Group", "ops")))
    assert world.can(Identity("alice", ("ops",)))
    assert not world.can(ALICE)
    assert not world.can(Identity("ops"))


def test_groups_that_a_user_object_claims_grant_nothing(world: World) -> None:
    world.bindings.apply(binding("ops", ("Group", "ops")))
    claimed = user("alice")
    claimed["spec"]["groups"] = ["ops", "system:masters"]
    world.users.apply(claimed)
    assert not world.can(ALICE)


@pytest.mark.parametrize(
    "subject",
    [
        ("Group", "system:authenticated"),
        ("Group", "system:masters"),
        ("User", "system:admin"),
        ("ServiceAccount", "alice"),
        ("user", "alice"),
        ("User", ""),
    ],
)
def test_reserved_names_and_other_kinds_match_nobody(
    world: World, subject: tuple[str, str]
) -> None:
    world.bindings.apply(binding("odd", subject))
    assert not world.can(ALICE)
    # An Identity holds no such group; the authorizer does not rely on that.
    identity = object.__new__(Identity)
    object.__setattr__(identity, "name", "alice")
    object.__setattr__(identity, "groups", ("system:authenticated", "system:masters"))
    assert not world.can(identity)


def test_only_the_role_of_that_name_and_kind_counts(world: World) -> None:
    world.bindings.apply(binding("odd", ("User", "alice"), kind="WorkspaceRole"))
    assert not world.can(ALICE)
    world.bindings.apply(binding("odd", ("User", "alice"), role="platform-admins"))
    assert not world.can(ALICE)


@pytest.mark.parametrize("missing", [USERS, GLOBAL_ROLE_BINDINGS])
def test_nothing_is_allowed_before_the_first_list(world: World, missing: GVR) -> None:
    informers = {USERS: world.users, GLOBAL_ROLE_BINDINGS: world.bindings}
    informers[missing] = Informer(missing, DECODERS[missing])
    access = Authorizer(StaticRuntime(informers)).access_for(ADMIN)
    assert not access.can("list", PODS)
    assert access.namespaces_where("list", PODS) == frozenset()


def test_a_failing_source_allows_nothing_and_raises_nothing() -> None:
    access = Authorizer(StaticRuntime({})).access_for(ADMIN)
    assert not access.can("list", PODS)
    assert access.namespaces_where("list", PODS) == frozenset()


@pytest.mark.parametrize("stale", ["users", "bindings"])
def test_reading_goes_on_for_five_minutes_without_the_server(world: World, stale: str) -> None:
    getattr(world, stale).set_stale(START, "connection refused")
    world.clock.move(seconds=299)
    for verb in ("get", "list", "watch"):
        assert world.can(ADMIN, verb)
    world.clock.move(seconds=1)
    assert not world.can(ADMIN)
    getattr(world, stale).set_stale(None)
    assert world.can(ADMIN)


def test_nothing_but_reading_goes_on_at_all(world: World) -> None:
    world.bindings.set_stale(START - timedelta(seconds=1))
    for verb in ("create", "update", "patch", "delete", "deletecollection", "impersonate", "bind"):
        assert not world.can(ADMIN, verb)
    for subresource in ("exec", "log", "attach", "portforward", "proxy"):
        assert not world.can(ADMIN, "get", subresource=subresource)
    assert not world.can(ADMIN, "list", SECRETS)
    assert world.can(ADMIN, "get", subresource="status")


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_no_question_raises(verb: str, resource: str, namespace: str) -> None:
    world = World()
    gvr = GVR("", "v1", resource)
    assert world.can(ADMIN, verb, gvr, namespace=namespace) is True
    assert world.can(ALICE, verb, gvr, namespace=namespace) is False
