"""Roles follow a change of the RoleBases to the end, whatever goes wrong with some of them."""

from typing import Any, cast

import pytest

from console.kube.controller import Request
from console.kube.errors import Unavailable
from console.kube.gvr import NAMESPACES, ROLE_BASES, ROLES, WORKSPACE_TEMPLATES
from console.kube.runtime import Runtime
from tests.rbac.fakes import Manifest
from tests.rbac.objects import rule
from tests.workspaces.fakes import TenantRuntime, new_project, settle, template
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
        self._look = next(cast(TenancyReconciler, one) for one in made if one.name == "rolebase")
        self.away: set[str] = set()

    async def say(self, rules: list[Manifest]) -> None:
        self.console.put(ROLE_BASES, base(rules))
        await self._look.reconcile(Request("", "viewer"))

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
            raise Unavailable("it took too long")
        return await replace(*given, **named)

    monkeypatch.setattr(found.console, "replace", replacing)
    return found


async def test_one_that_cannot_be_written_keeps_no_other_from_it(world: World) -> None:
    world.away = {"one", "four"}
    with pytest.raises(Unavailable):
        await world.say(A)
    got = {name for name, rules in world.viewers().items() if rules == A}
    assert got == {"two", "three", "five"}


async def test_a_change_that_is_half_done_is_taken_back_whole(world: World) -> None:
    await world.say(A)
    world.away = {"one"}
    with pytest.raises(Unavailable):
        await world.say(B)
    world.away = set()
    await world.say(A)
    assert all(rules == A for rules in world.viewers().values())


async def test_what_they_come_to_say_meanwhile_is_followed(
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
