"""Roles follow changes of RoleBases, even if some writes fail."""

from typing import Any, cast

import pytest

from console.kube.controller import Request
from console.kube.errors import Invalid, Unavailable
from console.kube.gvr import NAMESPACES, ROLE_BASES, ROLES, WORKSPACE_TEMPLATES
from console.kube.runtime import Runtime
from tests.rbac.fakes import Manifest
from tests.rbac.objects import rule
from tests.workspaces.fakes import TenantRuntime, new_project, settle, template
from workspaces.builtin_roles import PROJECT_RULES
from workspaces.controllers import FACTORIES, TenancyReconciler

PROJECTS = {"acme": ("one", "two", "three"), "other": ("four", "five")}
A, B = [rule("get", "pods", "core")], [rule("list", "services", "core")]


def base(rules: list[Manifest]) -> Manifest:
    return {
        "metadata": {"name": "viewer", "uid": "1", "labels": {"scope.kubesphere.io/namespace": ""}},
        "role": {"kind": "Role", "metadata": {"name": "viewer"}, "rules": rules},
    }


class World:
    def __init__(self, runtime: TenantRuntime) -> None:
        self.runtime, self.console = runtime, runtime.console
        made = (factory(cast(Runtime, runtime)) for factory in FACTORIES)
        self.looks = {one.name: cast(TenancyReconciler, one) for one in made}
        self.away: set[str] = set()
        self.refusing: dict[str, list[Manifest]] = {}
        self.refused: list[str] = []

    async def say(self, rules: list[Manifest]) -> None:
        self.console.put(ROLE_BASES, base(rules))
        await self.looks["rolebase"].reconcile(Request("", "viewer"))

    def viewers(self) -> dict[str, Any]:
        found = self.console.of(ROLES)
        names = [name for several in PROJECTS.values() for name in several]
        return {name: found[f"{name}/viewer"]["rules"] for name in names}


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> World:
    projects = [new_project(name, where) for where, names in PROJECTS.items() for name in names]
    made_of = {
        WORKSPACE_TEMPLATES: [template(name, "alice") for name in PROJECTS],
        NAMESPACES: projects,
    }
    found = World(await settle(TenantRuntime(made_of)))
    replace = found.console.replace

    async def replacing(*given: Any, **named: Any) -> Manifest:
        if named["namespace"] in found.away:
            raise Unavailable("the request timed out")
        if found.refusing.get(named["namespace"]) == given[1]["rules"]:
            found.refused.append(named["namespace"])
            raise Invalid(422, "a policy refuses it")
        return await replace(*given, **named)

    monkeypatch.setattr(found.console, "replace", replacing)
    return found


async def test_a_failed_write_does_not_affect_other_projects(world: World) -> None:
    world.away = {"one", "four"}
    with pytest.raises(Unavailable):
        await world.say(A)
    got = {name for name, rules in world.viewers().items() if rules == A}
    assert got == {"two", "three", "five"}


async def test_a_partly_applied_change_is_reverted_completely(world: World) -> None:
    await world.say(A)
    world.away = {"one"}
    with pytest.raises(Unavailable):
        await world.say(B)
    world.away = set()
    await world.say(A)
    assert all(rules == A for rules in world.viewers().values())


async def test_a_role_base_changed_during_reconciliation_is_applied(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = world.console.replace

    async def meanwhile(*given: Any, **named: Any) -> Manifest:
        made = await replace(*given, **named)
        world.console.put(ROLE_BASES, base(B))
        return made

    monkeypatch.setattr(world.console, "replace", meanwhile)
    await world.say(A)
    assert all(rules == B for rules in world.viewers().values())


async def test_refused_rules_fall_back_per_project_without_retries(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.refusing = {"one": A, "five": A}
    await world.say(A)
    ours = PROJECT_RULES["viewer"]
    is_ours = {name for name, rules in world.viewers().items() if rules == ours}
    assert is_ours == {"one", "five"}
    assert all(rules in (A, ours) for rules in world.viewers().values())
    # The role keeps the default rules, without another attempt.
    role = world.console.of(ROLES)["one/viewer"]
    for rules in (ours, []):
        world.console.put(ROLES, {**role, "rules": rules})
        await world.looks["project-builtin-roles"].reconcile(Request("one", "viewer"))
        assert world.viewers()["one"] == ours
    assert sorted(world.refused) == ["five", "one"]
    assert caplog.text.count("RoleBase") == 1
    # A different change is attempted, and afterwards the refused one again.
    await world.say(B)
    assert all(rules == B for rules in world.viewers().values())
    await world.say(A)
    assert sorted(world.refused) == ["five", "five", "one", "one"]
