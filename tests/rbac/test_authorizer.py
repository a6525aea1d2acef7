"""Authorization decisions, and denial in every uncertain case."""

from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    DEPLOYMENTS,
    GVR,
    NAMESPACES,
    NODES,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    USERS,
    WORKSPACES,
    Key,
)
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.ui.core.access import Access, may_change_everything
from rbac.authorizer import SOURCES, Authorizer
from rbac.grant_index import GrantIndex, SubjectKey
from rbac.rules import AccessQuestion
from rbac.subject_rights import SubjectRights
from tests.rbac.fakes import START, MovableClock
from tests.rbac.objects import (
    Manifest,
    admin_role,
    admins,
    native_binding,
    native_role,
    rule,
    user,
)
from tests.support.informers import bring, preloaded, set_stale, take_away
from tests.support.staticruntime import StaticRuntime

ADMIN, ALICE, BOB = Identity("admin"), Identity("alice"), Identity("bob")


class World:
    """Admin may do everything, alice may edit in `shop`, and bob has no permissions."""

    def __init__(self) -> None:
        people = [user(name) for name in ("admin", "alice", "bob", "system-x")]
        edit = native_role("edit", rule("*", "*", "*"))
        self.informers: dict[GVR, Informer[Any]] = {
            USERS: preloaded(USERS, people),
            ROLES: preloaded(ROLES),
            CLUSTER_ROLES: preloaded(CLUSTER_ROLES, [admin_role(), edit]),
            ROLE_BINDINGS: preloaded(ROLE_BINDINGS),
            CLUSTER_ROLE_BINDINGS: preloaded(CLUSTER_ROLE_BINDINGS, admins("admin")),
        }
        self.bind("alice-edits", "edit", "User alice", namespace="shop")
        self.clock = MovableClock()
        self.authorizer = Authorizer(StaticRuntime(self.informers), clock=self.clock)

    def can(self, identity: Identity, verb: str = "list", gvr: GVR = PODS, **of: Any) -> bool:
        return self.access(identity).can(verb, gvr, **of)

    def access(self, identity: Identity) -> Access:
        return self.authorizer.access_for(identity)

    def bind(self, name: str, role: str, *subjects: str, **more: Any) -> Manifest:
        item = native_binding(name, role, *subjects, **more)
        bring(self.of_bindings(item), item)
        return item

    def unbind(self, item: Manifest) -> None:
        take_away(self.of_bindings(item), item)

    def of_bindings(self, item: Manifest) -> Informer[Any]:
        return self.informers[
            ROLE_BINDINGS if item["metadata"].get("namespace") else CLUSTER_ROLE_BINDINGS
        ]

    def role(self, name: str, *rules: Manifest, namespace: str = "") -> Manifest:
        item = native_role(name, *rules, namespace=namespace)
        bring(self.informers[ROLES if namespace else CLUSTER_ROLES], item)
        return item


@pytest.fixture
def world() -> World:
    return World()


def test_an_admin_may_do_everything(world: World) -> None:
    access = world.access(ADMIN)
    assert isinstance(access, Access)
    assert access.identity == ADMIN
    for verb in ("get", "list", "watch", "create", "delete", "impersonate"):
        assert access.can(verb, PODS, namespace="shop", name="web")
    assert access.can("create", PODS, namespace="shop", subresource="exec")
    assert access.namespaces_where("list", PODS) is None
    assert world.authorizer.allows_path(ADMIN, "get", "/metrics")


def test_a_role_binding_grants_permissions_only_in_its_namespace(world: World) -> None:
    access = world.access(ALICE)
    assert access.can("delete", PODS, namespace="shop", name="web")
    assert access.can("list", SECRETS, namespace="shop")
    for namespace in ("", "team-a", "Shop", "shop "):
        assert not access.can("list", PODS, namespace=namespace)
    assert access.namespaces_where("list", PODS) == frozenset({"shop"})
    assert not access.can("list", NODES)
    assert not world.authorizer.allows_path(ALICE, "get", "/metrics")


def test_users_without_bindings_are_denied(world: World) -> None:
    for identity in (BOB, Identity("nobody"), Identity("Admin"), Identity("admin2")):
        assert not world.can(identity)
        assert not world.can(identity, "get", NAMESPACES, name="default")
        assert world.access(identity).namespaces_where("list", PODS) == frozenset()
        assert world.access(identity).names_where("list", PODS) == frozenset()


def test_a_role_counts_only_for_bindings_in_its_namespace(world: World) -> None:
    world.role("reader", rule("get", "pods"), namespace="shop")
    world.bind("in-shop", "reader", "User bob", namespace="shop", kind="Role")
    world.bind("in-team", "reader", "User bob", namespace="team-a", kind="Role")
    world.bind("in-all", "reader", "User bob", kind="Role")
    assert world.can(BOB, "get", namespace="shop")
    assert not world.can(BOB, "get", namespace="team-a")
    assert not world.can(BOB, "get")


def test_a_binding_counts_exactly_while_it_is_in_the_cache(world: World) -> None:
    access = world.access(BOB)
    assert not access.can("delete", PODS)
    item = world.bind("more", "cluster-admin", "User bob")
    assert access.can("delete", PODS)
    world.unbind(item)
    assert not access.can("delete", PODS)


def test_changed_subjects_of_a_binding_take_effect(world: World) -> None:
    world.bind("more", "cluster-admin", "User bob")
    assert world.can(BOB)
    world.bind("more", "cluster-admin", "User alice")
    assert not world.can(BOB)
    assert world.can(ALICE)


def test_creating_changing_and_deleting_a_role_takes_effect(world: World) -> None:
    world.bind("some", "some", "User bob", namespace="shop")
    assert not world.can(BOB, namespace="shop")
    world.role("some", rule("list", "pods"))
    assert world.can(BOB, namespace="shop")
    role = world.role("some", rule("list", "services"))
    assert not world.can(BOB, namespace="shop")
    assert world.can(BOB, gvr=GVR("", "v1", "services"), namespace="shop")
    take_away(world.informers[CLUSTER_ROLES], role)
    assert not world.can(BOB, gvr=GVR("", "v1", "services"), namespace="shop")


def test_permissions_follow_a_relist(world: World) -> None:
    assert world.can(ALICE, namespace="shop")
    world.informers[ROLE_BINDINGS].replace([], "5000")
    assert not world.can(ALICE, namespace="shop")


@pytest.mark.parametrize("state", ["Disabled", "Whatever"])
def test_a_user_in_a_disabled_or_unknown_state_has_no_permissions(world: World, state: str) -> None:
    assert world.can(ADMIN)
    bring(world.informers[USERS], user("admin", state=state))
    assert not world.can(ADMIN)


def test_a_user_disabled_during_the_computation_loses_permissions(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A concurrent request of another user processes the change meanwhile."""
    work_out = GrantIndex.rights_of
    other = Thread(target=world.can, args=(BOB,))

    def slowly(self: GrantIndex, who: SubjectKey) -> SubjectRights:
        rights = work_out(self, who)
        if who[0] == ALICE.name and other.ident is None:
            bring(world.informers[USERS], user("alice", state="Disabled"))
            other.start()
            other.join(0.2)
        return rights

    monkeypatch.setattr(GrantIndex, "rights_of", slowly)
    world.can(ALICE, namespace="shop")
    other.join()
    assert not world.can(ALICE, namespace="shop")


def test_a_lockout_keeps_permissions(world: World) -> None:
    bring(world.informers[USERS], user("admin", state="AuthLimitExceeded"))
    assert world.can(ADMIN)


def test_a_deleted_or_terminating_user_has_no_permissions(world: World) -> None:
    users = world.informers[USERS]
    bring(users, user("admin", deletionTimestamp="2026-03-01T12:00:00Z"))
    assert not world.can(ADMIN)
    bring(users, user("admin"))
    assert world.can(ADMIN)
    take_away(users, user("admin"))
    assert not world.can(ADMIN)


def test_group_bindings_count_for_groups_of_the_identity(world: World) -> None:
    world.bind("ops", "cluster-admin", "Group ops")
    assert world.can(Identity("bob", ("ops",)))
    assert not world.can(BOB)
    assert not world.can(Identity("ops"))


def test_every_existing_user_is_in_system_authenticated(world: World) -> None:
    world.role("read", rule("get", "nodes"))
    world.bind("all", "read", "Group system:authenticated")
    assert world.can(BOB, "get", NODES)
    assert not world.can(Identity("nobody"), "get", NODES)


def test_groups_that_a_user_object_claims_grant_nothing(world: World) -> None:
    world.bind("ops", "cluster-admin", "Group ops", "Group system:masters")
    claimed = user("bob")
    claimed["spec"]["groups"] = ["ops", "system:masters"]
    bring(world.informers[USERS], claimed)
    assert not world.can(BOB)


@pytest.mark.parametrize(
    "subject",
    ["Group system:masters", "User system:admin", "ServiceAccount shop/bob", "user bob", "User "],
)
def test_reserved_names_and_other_subject_kinds_match_no_user(world: World, subject: str) -> None:
    world.bind("odd", "cluster-admin", subject)
    assert not world.can(BOB)
    # Identity rejects such groups. The authorizer must not depend on that.
    identity = object.__new__(Identity)
    object.__setattr__(identity, "name", "bob")
    object.__setattr__(identity, "groups", ("system:masters",))
    assert not world.can(identity)


def test_resource_names_limit_a_rule_to_single_objects(world: World) -> None:
    world.role("one", rule("get list", "deployments", "apps", names="web db"))
    world.bind("one-in-shop", "one", "User bob", namespace="shop")
    access = world.access(BOB)
    assert access.can("list", DEPLOYMENTS, namespace="shop", name="web")
    assert not access.can("list", DEPLOYMENTS, namespace="shop")
    assert access.namespaces_where("list", DEPLOYMENTS) == frozenset()
    assert access.names_where("list", DEPLOYMENTS) == {Key("shop", "web"), Key("shop", "db")}
    assert access.names_where("delete", DEPLOYMENTS) == frozenset()
    world.role("workspace", rule("get list", "workspaces", "tenant.kubesphere.io", names="acme"))
    world.bind("acme", "workspace", "User bob")
    assert access.names_where("list", WORKSPACES) == {Key("", "acme")}


def test_subresources_need_separate_permissions(world: World) -> None:
    world.role("scaler", rule("patch", "deployments/scale", "apps"))
    world.bind("scaler", "scaler", "User bob", namespace="shop")
    world.role("one", rule("patch", "*/scale", "apps", names="web"))
    world.bind("one", "one", "User bob", namespace="team-a")
    access = world.access(BOB)
    assert access.can("patch", DEPLOYMENTS, namespace="shop", name="web", subresource="scale")
    assert not access.can("patch", DEPLOYMENTS, namespace="shop", name="web")
    assert access.namespaces_where("patch", DEPLOYMENTS, "scale") == frozenset({"shop"})
    assert access.namespaces_where("patch", DEPLOYMENTS) == frozenset()
    assert access.names_where("patch", DEPLOYMENTS, "scale") == {Key("team-a", "web")}
    assert access.names_where("patch", DEPLOYMENTS) == frozenset()
    # Permission for a resource does not include its subresources.
    world.role("patcher", rule("patch", "deployments", "apps"))
    world.bind("patcher", "patcher", "User alice", namespace="team-b")
    assert not world.access(ALICE).can(
        "patch", DEPLOYMENTS, namespace="team-b", name="web", subresource="scale"
    )


def test_readable_namespaces_are_listed_by_name(world: World) -> None:
    """A request for a namespace is a request within this namespace."""
    world.role("see", rule("get", "namespaces", names="team-a"))
    world.bind("see", "see", "User alice")
    world.bind("no", "see", "User alice", namespace="team-b")
    access = world.access(ALICE)
    assert access.can("get", NAMESPACES, name="shop")
    assert access.can("delete", NAMESPACES, name="shop")
    assert not access.can("get", NAMESPACES, name="team-b")
    assert not access.can("list", NAMESPACES)
    assert access.names_where("list", NAMESPACES) == {Key("", "shop"), Key("", "team-a")}
    assert access.names_where("delete", NAMESPACES) == {Key("", "shop")}
    assert world.access(BOB).names_where("list", NAMESPACES) == frozenset()


@pytest.mark.parametrize("missing", SOURCES)
def test_nothing_is_allowed_before_the_first_list(world: World, missing: GVR) -> None:
    world.role("reader", rule("list", "pods"), namespace="shop")
    world.bind("in-shop", "reader", "User bob", namespace="shop", kind="Role")
    world.informers[missing] = Informer(missing, DECODERS[missing])
    authorizer = Authorizer(StaticRuntime(world.informers))
    admin, bob = authorizer.access_for(ADMIN), authorizer.access_for(BOB)
    needs = {
        ADMIN: (USERS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS),
        BOB: (USERS, ROLES, ROLE_BINDINGS),
    }
    assert admin.can("list", PODS) is (missing not in needs[ADMIN])
    assert bob.can("list", PODS, namespace="shop") is (missing not in needs[BOB])
    world.informers[missing].replace([], "1")
    assert admin.can("list", PODS) is (missing not in needs[ADMIN])


def test_a_failing_source_denies_without_an_exception() -> None:
    authorizer = Authorizer(StaticRuntime({}))
    access = authorizer.access_for(ADMIN)
    assert not access.can("list", PODS)
    assert access.namespaces_where("list", PODS) == frozenset()
    assert access.names_where("list", PODS) == frozenset()
    assert not authorizer.allows_path(ADMIN, "get", "/")
    assert not authorizer.explain(ADMIN, AccessQuestion("list", "", "pods")).allowed


def test_a_reinstalled_type_counts_again(world: World) -> None:
    """The type gets a new informer, while the old informer remains disconnected."""
    source = StaticRuntime(world.informers)
    access = Authorizer(source, clock=world.clock).access_for(ADMIN)
    assert access.can("list", PODS)
    world.informers[USERS].replace([], "50")
    world.informers[USERS].disconnected("The cluster no longer has this resource type")
    assert not access.can("list", PODS)
    source._informers[USERS] = preloaded(USERS, [user("admin")])
    assert access.can("list", PODS)


@pytest.mark.parametrize("stale", SOURCES)
def test_stale_permissions_allow_reading_for_five_minutes(world: World, stale: GVR) -> None:
    assert world.can(ADMIN)
    informer = world.informers[stale]
    set_stale(informer, START, "connection refused")
    world.clock.move(seconds=299)
    for verb in ("get", "list", "watch"):
        assert world.can(ADMIN, verb)
    world.clock.move(seconds=1)
    assert not world.can(ADMIN)
    assert world.access(ADMIN).namespaces_where("list", PODS) == frozenset()
    set_stale(informer, None)
    assert world.can(ADMIN)


def test_stale_permissions_allow_no_writes_secrets_or_sensitive_subresources(world: World) -> None:
    set_stale(world.informers[ROLE_BINDINGS], START - timedelta(seconds=1))
    for verb in ("create", "update", "patch", "delete", "deletecollection", "impersonate", "bind"):
        assert not world.can(ADMIN, verb)
    for subresource in ("exec", "log", "attach", "portforward", "proxy"):
        assert not world.can(ADMIN, "get", subresource=subresource)
    assert not world.can(ADMIN, "list", SECRETS)
    assert world.can(ADMIN, "get", subresource="status")


def test_results_cached_with_stale_permissions_are_discarded_afterwards(world: World) -> None:
    access = world.access(ADMIN)
    before = access.rights_version()
    set_stale(world.informers[ROLE_BINDINGS], START)
    assert access.namespaces_where("list", SECRETS) == frozenset()
    assert access.rights_version() not in (None, before)
    set_stale(world.informers[ROLE_BINDINGS], None)
    assert access.namespaces_where("list", SECRETS) is None
    assert access.rights_version() == before


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_no_question_raises(verb: str, resource: str, namespace: str) -> None:
    world = World()
    gvr = GVR("", "v1", resource)
    assert world.can(ADMIN, verb, gvr, namespace=namespace) is True
    assert world.can(BOB, verb, gvr, namespace=namespace) is False


# Explanations.


def test_an_explanation_names_the_granting_binding(world: World) -> None:
    found = world.authorizer.explain(ALICE, AccessQuestion("list", "", "pods", namespace="shop"))
    assert found.allowed
    (grant,) = found.because
    assert (grant.binding, grant.namespace, grant.subject) == ("alice-edits", "shop", "User alice")
    assert grant.role == ("ClusterRole", "", "edit")


def test_granters_are_named_only_to_users_who_may_list_bindings(
    world: World,
) -> None:
    asked = AccessQuestion("get", "apps", "deployments", "scale", "shop", "web")
    found = world.authorizer.explain(BOB, asked)
    assert not found.allowed
    assert found.granters == ()
    world.role("look", rule("list", "rolebindings", "rbac.authorization.k8s.io"))
    world.bind("look", "look", "User bob", namespace="shop")
    assert world.authorizer.explain(BOB, asked).granters == ("User admin", "User alice")


def test_an_empty_resource_name_is_not_permission_to_change_everything(world: World) -> None:
    nameless = {**rule("*", "*", "*"), "resourceNames": [""]}
    bring(world.informers[CLUSTER_ROLES], native_role("nameless", nameless))
    world.bind("bob-is-nameless", "nameless", "User bob")
    assert world.can(BOB, "list") and not world.can(BOB, "delete", name="web")
    assert not may_change_everything(world.access(BOB))
    assert may_change_everything(world.access(ADMIN))
