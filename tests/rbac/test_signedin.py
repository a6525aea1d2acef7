"""Resources that all signed-in users may read (`AUTHENTICATED_READS`)."""

import os
import subprocess
import sys
from collections.abc import Collection
from typing import Any, cast

import pytest
from django.apps import apps

import rbac.apps
from console.kube.controller import Factory, NotSynced, Request
from console.kube.gvr import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, USERS
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.kube.runtime import Runtime
from rbac import authenticated_reads
from rbac.authenticated_reads import NAME, RESOURCES, SignedInReads, signed_in_factories
from tests.rbac.fakes import FakeRuntime
from tests.rbac.objects import user
from tests.rbac.projecting import make_runtime
from tests.support.informers import bring

BOTH = ("nodes", "storageclasses")


async def settle(runtime: FakeRuntime, resources: Collection[str]) -> None:
    for factory in signed_in_factories(resources):
        reconciler = cast(SignedInReads, factory(cast(Runtime, runtime)))
        for key in list(runtime.informer(reconciler.gvr).store.snapshot().entries):
            if (request := reconciler.request_for(key)) is not None:
                await reconciler.reconcile(request)


def bound(runtime: FakeRuntime) -> list[str]:
    binding = runtime.console.of(CLUSTER_ROLE_BINDINGS).get(NAME, {})
    return [subject["name"] for subject in binding.get("subjects", [])]


def rules(runtime: FakeRuntime) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = runtime.console.of(CLUSTER_ROLES).get(NAME, {}).get("rules", [])
    return found


async def test_nothing_is_granted_by_default() -> None:
    runtime = make_runtime({USERS: [user("alice")]})
    await settle(runtime, ())
    assert not runtime.console.of(CLUSTER_ROLES)
    assert not runtime.console.of(CLUSTER_ROLE_BINDINGS)


async def test_enabled_users_may_read_exactly_the_configured_resources() -> None:
    people = [user("alice"), user("bob", state="Disabled"), user("system:admin"), user("carol")]
    runtime = make_runtime({USERS: people})
    await settle(runtime, BOTH)
    assert bound(runtime) == ["alice", "carol"]
    reads = ["get", "list", "watch"]
    assert rules(runtime) == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": reads},
        {"apiGroups": ["storage.k8s.io"], "resources": ["storageclasses"], "verbs": reads},
    ]
    await settle(runtime, ("storageclasses",))
    assert [rule["resources"] for rule in rules(runtime)] == [["storageclasses"]]


async def test_removing_the_setting_revokes_the_permissions() -> None:
    runtime = make_runtime({USERS: [user("alice")]})
    await settle(runtime, BOTH)
    await settle(runtime, ())
    assert not runtime.console.of(CLUSTER_ROLES)
    assert not runtime.console.of(CLUSTER_ROLE_BINDINGS)


async def test_a_disabled_user_loses_the_permissions() -> None:
    runtime = make_runtime({USERS: [user("alice"), user("bob")]})
    await settle(runtime, BOTH)
    bring(runtime.informer(USERS), user("bob", state="Disabled"))
    await settle(runtime, BOTH)
    assert bound(runtime) == ["alice"]


async def test_nothing_is_granted_above_the_user_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authenticated_reads, "MAX_USERS", 1)
    runtime = make_runtime({USERS: [user("alice"), user("bob")]})
    await settle(runtime, BOTH)
    assert not bound(runtime) and not rules(runtime)


async def test_nothing_is_reconciled_before_users_are_synced() -> None:
    runtime = make_runtime({USERS: [user("alice")]})
    runtime._informers[USERS] = Informer(USERS, DECODERS[USERS])
    reconciler = signed_in_factories(BOTH)[0](cast(Runtime, runtime))
    with pytest.raises(NotSynced):
        await reconciler.reconcile(Request("", "alice"))


@pytest.mark.parametrize("resources", [(), ("nodes",)])
async def test_the_controllers_use_the_setting(
    resources: tuple[str, ...], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Factory] = []
    monkeypatch.setattr(rbac.apps, "register", found.append)
    settings.AUTHENTICATED_READS = resources
    apps.get_app_config("rbac").ready()
    runtime = make_runtime({USERS: [user("alice")]})
    for factory in found:
        reconciler = factory(cast(Runtime, runtime))
        if isinstance(reconciler, SignedInReads) and reconciler.gvr == USERS:
            await reconciler.reconcile(Request("", NAME))
    assert [rule["resources"] for rule in rules(runtime)] == [[one] for one in resources]
    assert bound(runtime) == ["alice"] * len(resources)


def test_only_nodes_and_storage_classes_are_supported() -> None:
    assert set(RESOURCES) == set(BOTH)


@pytest.mark.programs
@pytest.mark.parametrize(
    ("words", "named"),
    [(None, ()), ("storageclasses, nodes", ("storageclasses", "nodes"))],
)
def test_the_environment_variable_is_parsed_and_empty_by_default(
    words: str | None, named: tuple[str, ...]
) -> None:
    env = {name: text for name, text in os.environ.items() if name != "AUTHENTICATED_READS"}
    if words is not None:
        env["AUTHENTICATED_READS"] = words
    done = subprocess.run(
        [sys.executable, "-c", "from console import settings as s; print(s.AUTHENTICATED_READS)"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == str(named), done.stderr


@pytest.mark.programs
@pytest.mark.parametrize("word", ["users", "nodes,secrets", "*"])
def test_an_unknown_resource_stops_the_process_at_startup(word: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import console.settings"],
        env={**os.environ, "AUTHENTICATED_READS": word},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "AUTHENTICATED_READS can only contain nodes and storageclasses" in done.stderr
