"""Cleanup of objects that belong to a deleted user."""

from typing import Any, cast

import pytest

from accounts.kubeconfigs.storage import KubeconfigStore, StoredKubeconfig
from accounts.users.finalizer import LOOK_AGAIN, UserFinalizer
from accounts.users.reconciler import FINALIZER
from console.kube.controller import Request, Result
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CUSTOM_RESOURCE_DEFINITIONS,
    GLOBAL_ROLE_BINDINGS,
    GVR,
    LOGIN_RECORDS,
    ROLE_BINDINGS,
    SECRETS,
    USERS,
    Key,
)
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.kube.runtime import Runtime
from tests.accounts.definitions import definition
from tests.accounts.login_records import record
from tests.rbac.fakes import START, FakeRuntime, Manifest
from tests.rbac.objects import binding, native_binding, user

LABEL = {"iam.kubesphere.io/user-ref": "alice"}
GONE = "2026-03-01T12:00:00Z"


def of_alice(item: Manifest) -> Manifest:
    item["metadata"]["labels"] = dict(LABEL)
    return item


def make(**metadata: Any) -> FakeRuntime:
    types = [definition(gvr) for gvr in (USERS, GLOBAL_ROLE_BINDINGS, LOGIN_RECORDS)]
    return FakeRuntime(
        {
            CUSTOM_RESOURCE_DEFINITIONS: types,
            USERS: [user("alice", **metadata)],
            GLOBAL_ROLE_BINDINGS: [
                of_alice(binding("alice-admin", ("User", "alice"))),
                binding("bob-admin", ("User", "bob")),
            ],
            LOGIN_RECORDS: [record("r", START)],
            CLUSTER_ROLE_BINDINGS: [],
            ROLE_BINDINGS: [],
        }
    )


async def reconcile(runtime: FakeRuntime) -> Result:
    reconciler = UserFinalizer(cast(Runtime, runtime))
    return await reconciler.reconcile(Request("", "alice"))


async def test_labeled_objects_are_deleted_before_the_finalizer_is_removed() -> None:
    runtime = make(deletionTimestamp=GONE, finalizers=[FINALIZER, "other/x"])
    assert await reconcile(runtime) == Result(requeue_after=LOOK_AGAIN)
    # The cache must show that no objects are left.
    assert await reconcile(runtime) == Result()
    assert set(runtime.console.of(GLOBAL_ROLE_BINDINGS)) == {"bob-admin"}
    assert runtime.console.of(LOGIN_RECORDS) == {}
    assert runtime.console.of(USERS)["alice"]["metadata"]["finalizers"] == ["other/x"]


async def test_the_key_of_a_deleted_user_is_deleted() -> None:
    runtime = make(deletionTimestamp=GONE, finalizers=[FINALIZER])
    for user_ in ("alice", "bob"):
        await KubeconfigStore(cast(Runtime, runtime).console).save(
            StoredKubeconfig(user_, key="a key")
        )
    await reconcile(runtime)
    # The key stays while the user may still exist.
    assert await reconcile(runtime) == Result()
    assert set(runtime.console.of(SECRETS)) == {"quarterdeck-kubeconfigs/kubeconfig-bob"}


async def test_subjects_of_other_kinds_with_the_same_name_are_kept() -> None:
    """A group and a service account with the same name can be in one binding."""
    runtime = make(deletionTimestamp=GONE, finalizers=[FINALIZER])
    bound = native_binding("all", "view", "User alice", "Group alice", "ServiceAccount shop/alice")
    runtime.console.put(CLUSTER_ROLE_BINDINGS, bound)
    await reconcile(runtime)
    assert runtime.console.of(CLUSTER_ROLE_BINDINGS)["all"]["subjects"] == bound["subjects"][1:]


@pytest.mark.parametrize(
    "metadata",
    [{"finalizers": [FINALIZER]}, {"deletionTimestamp": GONE, "finalizers": ["other/x"]}],
)
async def test_users_that_are_not_finalized_here_are_ignored(metadata: dict[str, Any]) -> None:
    runtime = make(**metadata)
    assert await reconcile(runtime) == Result()
    assert runtime.console.calls == []


@pytest.mark.parametrize("missing", [GLOBAL_ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS])
async def test_the_finalizer_waits_until_all_types_are_synced(missing: GVR) -> None:
    runtime = make(deletionTimestamp=GONE, finalizers=[FINALIZER])
    runtime._informers[missing] = Informer(missing, DECODERS[missing])
    for _look in range(3):
        assert (await reconcile(runtime)).requeue_after
    entry = runtime.informer(USERS).store.get(Key("", "alice"))
    assert entry is not None
    assert entry.original()["metadata"]["finalizers"] == [FINALIZER]
