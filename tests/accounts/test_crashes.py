"""Account controllers interrupted at every write: the final state is correct, and no objects are
left over.
"""

import base64
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any, cast

import pytest

from accounts.kubeconfigs.certificates import expires, is_certificate_for, make_key, renew_before
from accounts.kubeconfigs.csr import CSRReconciler
from accounts.kubeconfigs.kubeconfig import (
    ASKED_ANNOTATION,
    KubeconfigReconciler,
    signing_request,
)
from accounts.kubeconfigs.storage import KubeconfigStore
from accounts.protection.retention import LoginRecordReconciler
from accounts.signin.passwords import is_hash
from accounts.users.finalizer import UserFinalizer
from accounts.users.groupbindings import FINALIZER as BINDING_FINALIZER
from accounts.users.groupbindings import GroupBindingReconciler
from accounts.users.groups import FINALIZER as GROUP_FINALIZER
from accounts.users.groups import GroupReconciler
from accounts.users.reconciler import FEDERATED_LABEL, FINALIZER, UserReconciler
from console.kube.clients import ObjectClient
from console.kube.controller import Request
from console.kube.errors import Conflict
from console.kube.gvr import (
    CERTIFICATE_SIGNING_REQUESTS,
    CLUSTER_ROLE_BINDINGS,
    CUSTOM_RESOURCE_DEFINITIONS,
    GLOBAL_ROLE_BINDINGS,
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    LOGIN_RECORDS,
    ROLE_BINDINGS,
    SECRETS,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.kube.runtime import Runtime
from devcluster.pki import Authority
from rbac.memberships import groups_of
from tests.accounts.conftest import HASH, PASSWORD
from tests.accounts.crashing import crash_everywhere, settle, state
from tests.accounts.definitions import definition
from tests.accounts.login_records import record
from tests.rbac.fakes import START, FakeRuntime, Manifest
from tests.rbac.objects import (
    binding,
    native_binding,
    user,
    workspace,
    workspace_binding,
)
from tests.support.controllers import Controllers
from tests.support.groups import group, members
from tests.support.informers import set_stale, take_away

GONE = "2026-03-01T12:00:00Z"
FACTORIES = (
    UserReconciler,
    UserFinalizer,
    LoginRecordReconciler,
    GroupReconciler,
    GroupBindingReconciler,
    KubeconfigReconciler,
    CSRReconciler,
)
CUSTOM = (
    USERS,
    GROUPS,
    GROUP_BINDINGS,
    GLOBAL_ROLE_BINDINGS,
    LOGIN_RECORDS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
NATIVE = (CERTIFICATE_SIGNING_REQUESTS, CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS)


def world(objects: dict[GVR, list[Manifest]]) -> FakeRuntime:
    known = {gvr: objects.get(gvr, []) for gvr in (*CUSTOM, *NATIVE)}
    known[CUSTOM_RESOURCE_DEFINITIONS] = [definition(gvr) for gvr in CUSTOM]
    return FakeRuntime(known)


def kubernetes(runtime: FakeRuntime) -> None:
    """Simulate kube-apiserver: delete terminating objects without finalizers."""
    for (gvr, place), item in list(runtime.console.objects.items()):
        meta = item["metadata"]
        if "deletionTimestamp" in meta and not meta.get("finalizers"):
            del runtime.console.objects[gvr, place]
            take_away(runtime.console.informers[gvr], item)


def everything() -> FakeRuntime:
    both = workspace_binding("acme-both", "acme", "acme-viewer", "User bob", "Group staff")
    return world(
        {
            WORKSPACES: [workspace("acme")],
            USERS: [
                user("plain", password=PASSWORD, state=None),
                user("alice", password=HASH),
                user("bob", password=HASH, deletionTimestamp=GONE, finalizers=[FINALIZER, "x/y"]),
            ],
            LOGIN_RECORDS: [record("r1", START), record("old", START - timedelta(days=30))],
            GROUPS: [
                group("staff"),
                group("team", parent="staff"),
                group("leaving", deletionTimestamp=GONE, finalizers=[GROUP_FINALIZER]),
            ],
            GROUP_BINDINGS: [
                members("one", "team", "alice", "bob"),
                members("two", "leaving", "alice", finalizers=[BINDING_FINALIZER]),
                members("three", "staff", "bob"),
            ],
            GLOBAL_ROLE_BINDINGS: [binding("bob-admin", ("User", "bob"))],
            WORKSPACE_ROLE_BINDINGS: [both],
            CLUSTER_ROLE_BINDINGS: [
                native_binding("by-hand", "view", "User bob"),
                native_binding("of-three", "view", "User alice", "User bob", "Group leaving"),
                native_binding("of-group", "edit", "Group leaving"),
            ],
            ROLE_BINDINGS: [native_binding("here", "admin", "User bob", namespace="shop")],
        }
    )


def names(items: list[Manifest]) -> list[str]:
    return [item["name"] for item in items]


def hashed_or_not(_gvr: GVR, item: Manifest) -> Manifest:
    """Replace password hashes, because two hashes of the same password differ."""
    spec = item.get("spec") or {}
    if is_hash(str(spec.get("password", ""))):
        return {**item, "spec": {**spec, "password": "a hash"}}
    return item


async def test_a_crash_at_any_write_converges_to_the_same_state() -> None:
    writes = await crash_everywhere(
        everything, FACTORIES, cluster=kubernetes, without=hashed_or_not
    )
    # Otherwise the test would be trivial.
    assert writes >= 25


async def test_the_final_state() -> None:
    runtime = everything()
    await settle(runtime, FACTORIES, kubernetes)
    of = runtime.console.of
    assert of(USERS)["plain"]["status"]["state"] == "Active"
    assert of(USERS)["bob"]["metadata"]["finalizers"] == ["x/y"]
    assert of(USERS)["alice"]["spec"]["groups"] == ["team"]
    assert set(of(GROUPS)) == {"staff", "team"}
    owners = {name: item["metadata"]["ownerReferences"][0] for name, item in of(GROUPS).items()}
    assert (owners["staff"]["kind"], owners["staff"]["name"]) == ("Workspace", "acme")
    assert (owners["team"]["kind"], owners["team"]["uid"]) == ("Group", "uid-staff")
    assert {name: item["users"] for name, item in of(GROUP_BINDINGS).items()} == {"one": ["alice"]}
    assert of(GLOBAL_ROLE_BINDINGS) == {} == of(ROLE_BINDINGS)
    assert names(of(WORKSPACE_ROLE_BINDINGS)["acme-both"]["subjects"]) == ["staff"]
    assert set(of(CLUSTER_ROLE_BINDINGS)) == {"of-three"}
    assert names(of(CLUSTER_ROLE_BINDINGS)["of-three"]["subjects"]) == ["alice"]
    assert set(of(LOGIN_RECORDS)) == {"r1"}
    assert groups_of(runtime, "alice") == ("team",)


#: Members in a binding. None if the binding is deleted.
SAID: tuple[tuple[str, ...] | None, ...] = ((), ("alice",), ("carol",), ("alice", "carol"), None)


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside-another"])
@pytest.mark.parametrize(("before", "after"), [*permutations(SAID, 2)], ids=str)
async def test_the_groups_of_a_user_follow_changes_of_bindings(
    before: tuple[str, ...] | None, after: tuple[str, ...] | None, alone: bool
) -> None:
    """Includes users removed from a remaining binding. Groups without a binding are kept."""
    people = [user(name, password=HASH) for name in ("alice", "carol", "dan")]
    for one in people:
        one["spec"]["groups"] = ["elsewhere"]
    others = [] if alone else [members("other", "team", "alice", "dan")]
    runtime = world(
        {
            WORKSPACES: [workspace("acme")],
            USERS: people,
            GROUPS: [group("team")],
            GROUP_BINDINGS: others,
        }
    )
    for said in (before, after):
        there = runtime.console.of(GROUP_BINDINGS).get("one")
        if said is not None:
            now = there or members("one", "team")
            runtime.console.put(GROUP_BINDINGS, {**now, "users": [*said]})
        elif there is not None:
            meta = {**there["metadata"], "deletionTimestamp": GONE}
            runtime.console.put(GROUP_BINDINGS, {**there, "metadata": meta})
        await settle(runtime, FACTORIES, kubernetes)
        inside = {*(said or ()), *(() if alone else ("alice", "dan"))}
        for name, item in runtime.console.of(USERS).items():
            wanted = ["elsewhere", "team"] if name in inside else ["elsewhere"]
            assert item["spec"]["groups"] == wanted, name
        assert ("one" in runtime.console.of(GROUP_BINDINGS)) is (said is not None)


async def test_removed_finalizers_and_owners_are_restored() -> None:
    """Finalizers, which delay the deletion until cleanup is complete, and owner references."""
    runtime = everything()
    controllers = Controllers(runtime, FACTORIES)
    while await controllers.work():
        kubernetes(runtime)
    as_it_was = state(runtime)
    for gvr, place in (
        (USERS, "alice"),
        (GROUPS, "staff"),
        (GROUPS, "team"),
        (GROUP_BINDINGS, "one"),
    ):
        found = runtime.console.of(gvr)[place]
        without: Manifest = {
            name: [] for name in ("finalizers", "ownerReferences") if name in found["metadata"]
        }
        meta = {**found["metadata"], **without}
        runtime.console.put(gvr, {**found, "metadata": meta})
        while await controllers.work():
            kubernetes(runtime)
        assert state(runtime) == as_it_was, place


async def test_events_of_the_controllers() -> None:
    runtime = everything()
    runtime.console.put(GROUPS, group("astray", "nowhere"))
    runtime.console.put(GROUP_BINDINGS, members("lost", "nothing", "alice"))
    await settle(runtime, FACTORIES, kubernetes)
    told = {
        (event["involvedObject"]["kind"], event["involvedObject"]["name"], event["reason"])
        for event in runtime.console.events
    }
    assert told == {
        ("Group", "astray", "NoWorkspace"),
        ("Group", "astray", "Synced"),
        ("Group", "leaving", "Released"),
        ("Group", "staff", "Synced"),
        ("Group", "team", "Synced"),
        ("GroupBinding", "lost", "NoGroup"),
        ("GroupBinding", "one", "Synced"),
        ("User", "bob", "Released"),
        ("User", "plain", "PasswordHashed"),
        ("User", "plain", "Synced"),
    }


async def test_members_are_kept_while_sources_are_stale() -> None:
    runtime = everything()
    await settle(runtime, FACTORIES, kubernetes)
    for gvr in (GROUPS, GROUP_BINDINGS):
        set_stale(runtime.informer(gvr), datetime(2026, 1, 1, tzinfo=UTC))
        again = await GroupBindingReconciler(cast(Runtime, runtime)).reconcile(Request("", "one"))
        assert again.requeue_after
        assert runtime.console.of(USERS)["alice"]["spec"]["groups"] == ["team"]
        set_stale(runtime.informer(gvr), None)


async def test_a_group_is_not_finalized_before_bindings_are_synced() -> None:
    runtime = everything()
    runtime._informers[GROUP_BINDINGS] = Informer(GROUP_BINDINGS, DECODERS[GROUP_BINDINGS])
    for _look in range(3):
        again = await GroupReconciler(cast(Runtime, runtime)).reconcile(Request("", "leaving"))
        assert again.requeue_after
    assert runtime.console.of(GROUPS)["leaving"]["metadata"]["finalizers"] == [GROUP_FINALIZER]


async def test_federated_copies_of_users_are_not_changed() -> None:
    runtime = world(
        {
            WORKSPACES: [workspace("acme")],
            USERS: [user("alice", password=HASH, labels={FEDERATED_LABEL: "true"})],
            GROUPS: [group("team")],
            GROUP_BINDINGS: [members("one", "team", "alice")],
        }
    )
    as_it_was = runtime.console.of(USERS)
    await settle(runtime, FACTORIES, kubernetes)
    assert runtime.console.of(USERS) == as_it_was
    assert groups_of(runtime, "alice") == ("team",)


async def test_other_owner_references_of_a_group_are_kept() -> None:
    runtime = everything()
    crew = {"apiVersion": "example.com/v1", "kind": "Crew", "name": "blue", "uid": "uid-blue"}
    staff = runtime.console.of(GROUPS)["staff"]
    meta = {**staff["metadata"], "ownerReferences": [crew]}
    runtime.console.put(GROUPS, {**staff, "metadata": meta})
    await settle(runtime, FACTORIES, kubernetes)
    owners = runtime.console.of(GROUPS)["staff"]["metadata"]["ownerReferences"]
    assert [owner["kind"] for owner in owners] == ["Crew", "Workspace"]


async def test_group_owners_are_in_the_same_workspace_and_acyclic() -> None:
    """Deleting an owner deletes the groups that it owns."""
    groups = [
        group("foreign", "other"),
        group("guest", parent="foreign"),
        group("hen", parent="egg"),
        group("egg", parent="hen"),
        group("self", parent="self"),
    ]
    runtime = world({WORKSPACES: [workspace("acme"), workspace("other")], GROUPS: groups})
    await settle(runtime, FACTORIES, kubernetes)
    for name, item in runtime.console.of(GROUPS).items():
        [owner] = item["metadata"]["ownerReferences"]
        assert owner["kind"] == "Workspace", name


async def test_a_new_member_stays_when_another_member_is_deleted() -> None:
    """The new member is not in the cache yet."""
    runtime = everything()
    seen = runtime.console.of(GROUP_BINDINGS)["one"]
    runtime.console.delayed = True
    runtime.console.put(GROUP_BINDINGS, {**seen, "users": [*seen["users"], "carol"]})
    with pytest.raises(Conflict):
        await UserFinalizer(cast(Runtime, runtime)).reconcile(Request("", "bob"))
    assert "carol" in runtime.console.of(GROUP_BINDINGS)["one"]["users"]


async def test_a_binding_changed_by_another_client_keeps_new_subjects() -> None:
    runtime = everything()
    runtime.console.delayed = True
    more = native_binding("by-hand", "view", "User bob", "User carol")
    runtime.console.put(CLUSTER_ROLE_BINDINGS, more)
    with pytest.raises(Conflict):
        await UserFinalizer(cast(Runtime, runtime)).reconcile(Request("", "bob"))
    assert "carol" in names(runtime.console.of(CLUSTER_ROLE_BINDINGS)["by-hand"]["subjects"])


# Certificates.


class Signer:
    """Kubernetes' certificate signer. `more` is added to the requested lifetime."""

    def __init__(self, folder: Any) -> None:
        self._authority = Authority(folder)
        self.more = timedelta()

    def __call__(self, runtime: FakeRuntime) -> None:
        kubernetes(runtime)
        for item in runtime.console.of(CERTIFICATE_SIGNING_REQUESTS).values():
            status = item.get("status") or {}
            if status.get("conditions") and not status.get("certificate"):
                lasts = timedelta(seconds=item["spec"]["expirationSeconds"])
                request = base64.b64decode(item["spec"]["request"])
                signed = base64.b64encode(self._authority.sign(request, lasts + self.more)).decode()
                status = {**status, "certificate": signed}
                runtime.console.put(CERTIFICATE_SIGNING_REQUESTS, {**item, "status": status})


def asking() -> FakeRuntime:
    return world(
        {
            WORKSPACES: [workspace("acme")],
            USERS: [user("alice", password=HASH, annotations={ASKED_ANNOTATION: "true"})],
            GROUPS: [group("team")],
            GROUP_BINDINGS: [members("one", "team", "alice")],
        }
    )


async def test_a_crash_while_issuing_leaves_one_certificate_and_no_request(
    tmp_path: Any,
) -> None:
    def kept_or_not(gvr: GVR, item: Manifest) -> Manifest:
        """Replace keys, because they differ in each run."""
        data = item.get("data") or {}
        return (
            {**item, "data": {name: bool(data[name]) for name in data}} if gvr == SECRETS else item
        )

    writes = await crash_everywhere(
        asking, FACTORIES, cluster=Signer(tmp_path), without=kept_or_not
    )
    assert writes >= 8


async def test_the_certificate_has_the_name_and_the_groups(tmp_path: Any) -> None:
    runtime = asking()
    await settle(runtime, FACTORIES, Signer(tmp_path))
    kept = await keeper_of(runtime).find("alice")
    assert is_certificate_for(kept.certificate, kept.key, Identity("alice", ("team",)))
    assert not kept.pending
    assert runtime.console.of(CERTIFICATE_SIGNING_REQUESTS) == {}


async def test_the_certificate_is_renewed_before_it_expires(tmp_path: Any) -> None:
    runtime = asking()
    signer = Signer(tmp_path)
    await settle(runtime, FACTORIES, signer)
    keeper = keeper_of(runtime)
    first = await keeper.find("alice")
    signer.more = timedelta(days=30)
    runtime.clock.time = expires(first.certificate) - renew_before()
    await settle(runtime, FACTORIES, signer)
    second = await keeper.find("alice")
    assert expires(second.certificate) > expires(first.certificate) + timedelta(days=29)
    assert second.key != first.key


async def test_a_new_certificate_is_issued_when_groups_change(tmp_path: Any) -> None:
    runtime = asking()
    signer = Signer(tmp_path)
    await settle(runtime, FACTORIES, signer)
    keeper = keeper_of(runtime)
    first = await keeper.find("alice")
    runtime.console.put(GROUP_BINDINGS, members("one", "team", workspace="acme"))
    await settle(runtime, FACTORIES, signer)
    second = await keeper.find("alice")
    assert is_certificate_for(second.certificate, second.key, Identity("alice"))
    assert second.key != first.key


async def test_forged_signing_requests_are_deleted(tmp_path: Any) -> None:
    runtime = asking()
    await settle(runtime, FACTORIES, lambda _: None)
    ((name, ours),) = runtime.console.of(CERTIFICATE_SIGNING_REQUESTS).items()
    assert ours["status"]["conditions"][0]["type"] == "Approved"

    forged = signing_request(make_key(), Identity("alice", ("team", "admins")))
    await runtime.console.create(CERTIFICATE_SIGNING_REQUESTS, forged)
    await settle(runtime, (CSRReconciler,), lambda _: None)
    assert set(runtime.console.of(CERTIFICATE_SIGNING_REQUESTS)) == {name}


async def test_a_recreated_signing_request_is_not_deleted(tmp_path: Any) -> None:
    runtime = asking()
    await settle(runtime, FACTORIES, lambda _: None)
    Signer(tmp_path)(runtime)
    ((name, signed),) = runtime.console.of(CERTIFICATE_SIGNING_REQUESTS).items()
    runtime.console.delayed = True
    another = {**signed, "metadata": {**signed["metadata"], "uid": "another"}}
    runtime.console.put(CERTIFICATE_SIGNING_REQUESTS, another)
    with pytest.raises(Conflict):
        await CSRReconciler(cast(Runtime, runtime)).reconcile(Request("", name))
    assert set(runtime.console.of(CERTIFICATE_SIGNING_REQUESTS)) == {name}


def keeper_of(runtime: FakeRuntime) -> KubeconfigStore:
    return KubeconfigStore(cast(ObjectClient, runtime.console))


async def test_the_certificate_of_a_disabled_user_is_deleted(tmp_path: Any) -> None:
    runtime = asking()
    await settle(runtime, FACTORIES, Signer(tmp_path))
    found = runtime.console.of(USERS)["alice"]
    runtime.console.put(USERS, {**found, "status": {"state": "Disabled"}})
    await settle(runtime, FACTORIES, Signer(tmp_path))
    assert runtime.console.of(SECRETS) == {}
