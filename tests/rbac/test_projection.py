"""Platform administrators are cluster administrators, and nobody else becomes one that way."""

from typing import Any, cast

import pytest

from console.kube.controller import Request, Result
from console.kube.errors import Conflict, Forbidden
from console.kube.gvr import CLUSTER_ROLE_BINDINGS, GLOBAL_ROLE_BINDINGS
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.kube.runtime import Runtime
from rbac.controllers import GlobalRoleBindingReconciler, ProjectedBindingReconciler
from tests.rbac.fakes import FakeRuntime, Manifest
from tests.rbac.objects import binding

NAME = "quarterdeck:globalrolebinding:admins"


def make(*bindings: Manifest, projected: tuple[Manifest, ...] = ()) -> FakeRuntime:
    return FakeRuntime({GLOBAL_ROLE_BINDINGS: [*bindings], CLUSTER_ROLE_BINDINGS: [*projected]})


async def sync(runtime: FakeRuntime, name: str = "admins") -> Result:
    reconciler = GlobalRoleBindingReconciler(cast(Runtime, runtime))
    return await reconciler.reconcile(Request("", name))


async def sync_other_side(runtime: FakeRuntime, name: str = NAME) -> Result:
    reconciler = ProjectedBindingReconciler(cast(Runtime, runtime))
    return await reconciler.reconcile(Request("", name))


def projected(runtime: FakeRuntime) -> dict[str, Any]:
    return runtime.console.of(CLUSTER_ROLE_BINDINGS)


async def test_a_binding_to_platform_admin_gets_a_cluster_role_binding() -> None:
    runtime = make(binding("admins", ("User", "admin"), ("Group", "ops")))
    await sync(runtime)
    found = projected(runtime)[NAME]
    assert found["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "cluster-admin",
    }
    assert [(s["kind"], s["name"], s["apiGroup"]) for s in found["subjects"]] == [
        ("User", "admin", "rbac.authorization.k8s.io"),
        ("Group", "ops", "rbac.authorization.k8s.io"),
    ]
    assert found["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "quarterdeck"}
    (owner,) = found["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == (
        "GlobalRoleBinding",
        "admins",
        "uid-admins",
    )
    assert [e["reason"] for e in runtime.console.events] == ["Synced"]


async def test_a_second_look_does_nothing() -> None:
    runtime = make(binding("admins", ("User", "admin")))
    await sync(runtime)
    calls = list(runtime.console.calls)
    await sync(runtime)
    await sync_other_side(runtime)
    assert runtime.console.calls == calls


@pytest.mark.parametrize(
    "source",
    [
        binding("admins", ("User", "alice"), role="platform-regular"),
        binding("admins", ("User", "alice"), kind="WorkspaceRole"),
        binding("admins"),
        binding("admins", ("User", "system:admin"), ("Group", "system:authenticated")),
        binding("admins", ("ServiceAccount", "default"), ("User", "älice"), ("User", " x")),
    ],
)
async def test_nothing_comes_of_other_roles_and_of_reserved_names(source: Manifest) -> None:
    runtime = make(source)
    await sync(runtime)
    assert projected(runtime) == {}


async def test_reserved_subjects_are_left_out_and_reported() -> None:
    runtime = make(binding("admins", ("User", "admin"), ("Group", "system:masters")))
    await sync(runtime)
    assert [s["name"] for s in projected(runtime)[NAME]["subjects"]] == ["admin"]
    warning = next(e for e in runtime.console.events if e["type"] == "Warning")
    assert warning["reason"] == "SubjectsRefused"
    assert "system:masters" in warning["message"]


async def test_it_follows_the_source() -> None:
    runtime = make(binding("admins", ("User", "admin")))
    await sync(runtime)
    runtime.console.put(GLOBAL_ROLE_BINDINGS, binding("admins", ("User", "alice")))
    await sync(runtime)
    assert [s["name"] for s in projected(runtime)[NAME]["subjects"]] == ["alice"]
    changed = binding("admins", ("User", "alice"), role="platform-regular")
    runtime.console.put(GLOBAL_ROLE_BINDINGS, changed)
    await sync(runtime)
    assert projected(runtime) == {}


async def test_it_goes_with_the_source() -> None:
    source = binding("admins", ("User", "admin"))
    runtime = make(source)
    await sync(runtime)
    runtime.informer(GLOBAL_ROLE_BINDINGS).remove(
        runtime.console.of(GLOBAL_ROLE_BINDINGS)["admins"]
    )
    await sync(runtime)
    assert projected(runtime) == {}


@pytest.mark.parametrize(
    "change",
    [
        {"subjects": [{"kind": "User", "name": "mallory"}]},
        {"subjects": None},
        {"metadata": {"labels": None}},
        {"metadata": {"ownerReferences": None}},
        {"roleRef": {"name": "view"}},
    ],
)
async def test_changes_by_hand_are_repaired(change: Manifest) -> None:
    runtime = make(binding("admins", ("User", "admin")))
    await sync(runtime)
    wanted = projected(runtime)[NAME]
    from_hand = {**wanted, **change}
    if "metadata" in change:
        from_hand["metadata"] = {**wanted["metadata"], **change["metadata"]}
    if "roleRef" in change:
        from_hand["roleRef"] = {**wanted["roleRef"], **change["roleRef"]}
    runtime.console.put(CLUSTER_ROLE_BINDINGS, from_hand)
    await sync_other_side(runtime)
    found = projected(runtime)[NAME]
    for field in ("subjects", "roleRef"):
        assert found[field] == wanted[field]
    for field in ("labels", "ownerReferences"):
        assert found["metadata"][field] == wanted["metadata"][field]


async def test_a_projection_that_was_deleted_comes_back() -> None:
    runtime = make(binding("admins", ("User", "admin")))
    await sync(runtime)
    found = runtime.console.of(CLUSTER_ROLE_BINDINGS)[NAME]
    del runtime.console.objects[CLUSTER_ROLE_BINDINGS, NAME]
    runtime.informer(CLUSTER_ROLE_BINDINGS).remove(found)
    await sync_other_side(runtime)
    assert NAME in projected(runtime)


async def test_a_source_that_was_made_anew_owns_its_projection() -> None:
    runtime = make(binding("admins", ("User", "admin")))
    await sync(runtime)
    runtime.console.put(GLOBAL_ROLE_BINDINGS, binding("admins", ("User", "admin"), uid="second"))
    await sync(runtime)
    (owner,) = projected(runtime)[NAME]["metadata"]["ownerReferences"]
    assert owner["uid"] == "second"


async def test_bindings_of_others_are_left_alone() -> None:
    other = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "theirs", "uid": "u", "resourceVersion": "1"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
    }
    runtime = make(projected=(other,))
    await sync_other_side(runtime, "theirs")
    assert runtime.console.calls == []


@pytest.mark.parametrize("missing", [GLOBAL_ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS])
async def test_nothing_is_done_before_both_sides_are_known(missing: Any) -> None:
    runtime = make(binding("admins", ("User", "admin")))
    await sync(runtime)
    before = list(runtime.console.calls)
    runtime._informers[missing] = Informer(missing, DECODERS[missing])
    assert (await sync(runtime)).requeue_after
    assert (await sync_other_side(runtime)).requeue_after
    assert runtime.console.calls == before


async def test_a_stale_cache_overwrites_nothing() -> None:
    runtime = make(binding("admins", ("User", "admin")))
    await sync(runtime)
    runtime.console.delayed = True
    newer = {**projected(runtime)[NAME], "subjects": [{"kind": "User", "name": "mallory"}]}
    runtime.informer(CLUSTER_ROLE_BINDINGS).apply(newer)
    runtime.console.put(CLUSTER_ROLE_BINDINGS, {**newer, "subjects": []})
    with pytest.raises(Conflict):
        await sync(runtime)


async def test_an_event_that_cannot_be_written_stops_nothing() -> None:
    runtime = make(binding("admins", ("User", "admin")))
    runtime.console.fail_events = Forbidden(403, "no")
    await sync(runtime)
    assert NAME in projected(runtime)
