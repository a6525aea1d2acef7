"""Agreement of the console with kube-apiserver after changes, and about the privilege escalation
check.

Runs on a real control plane with running controllers. The tests print the delays and only
require eventual agreement, because a busy machine delays everything.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

from console.kube.errors import Forbidden
from console.kube.gvr import CLUSTER_ROLES
from console.kube.identity import Identity
from rbac.escalation_check import covers
from rbac.rules import AccessQuestion, any_allows, parse_rules
from tests.controlplane.waiting import eventually
from tests.rbac.conftest import World
from tests.rbac.objects import (
    Manifest,
    binding,
    global_role,
    native_binding,
    native_role,
    rule,
    user,
    workspace_binding,
    workspace_role,
)
from tests.rbac.random_questions import Chance
from tests.support.depth import SEED, number

CHANGES = number(32, 100)
ESCALATIONS = number(40, 500)
#: The verb `escalate` allows any rules in a new role. A new role has no name yet, so a rule with
#: the resource name "" is enough.
ESCALATE = AccessQuestion("escalate", CLUSTER_ROLES.group, CLUSTER_ROLES.resource)
_number = count()

#: Creates a grant and returns the granted question.
Make = Callable[[str], tuple[list[Manifest], AccessQuestion]]


def _sign() -> tuple[Manifest, AccessQuestion]:
    """Return a rule for a new resource, and the question that it allows."""
    resource = f"things{next(_number)}"
    return rule("get", resource, "example.com"), AccessQuestion("get", "example.com", resource)


def _of_cluster(name: str) -> tuple[list[Manifest], AccessQuestion]:
    sign, asked = _sign()
    return [native_role(name, sign), native_binding(name, name, "User tim")], asked


def _of_project(name: str) -> tuple[list[Manifest], AccessQuestion]:
    sign, asked = _sign()
    place = {"namespace": "nobodys"}
    bound = native_binding(name, name, "User tim", kind="Role", **place)
    return [native_role(name, sign, **place), bound], asked._replace(**place)


def _of_platform(name: str) -> tuple[list[Manifest], AccessQuestion]:
    sign, asked = _sign()
    return [global_role(name, sign), binding(name, ("User", "tim"), role=name)], asked


def _of_workspace(name: str) -> tuple[list[Manifest], AccessQuestion]:
    sign, asked = _sign()
    role = workspace_role(f"acme-{name}", "acme", sign)
    bound = workspace_binding(f"acme-{name}", "acme", f"acme-{name}", "User tim")
    return [role, bound], asked._replace(namespace="acme-one")


MAKERS: tuple[Make, ...] = (_of_cluster, _of_project, _of_platform, _of_workspace)


def _changes(world: World) -> Iterator[tuple[str, AccessQuestion, bool, Callable[[], Any]]]:
    """Yield each change, the affected question, the expected answer and a function that makes the
    change.

    Grants are created and deleted, by binding or by role.
    """
    for turn in range(CHANGES // 2):
        make = MAKERS[turn % len(MAKERS)]
        items, asked = make(f"soon-{turn}")

        def give(items: list[Manifest] = items) -> None:
            for item in items:
                world.create(item)

        gone = items[turn // len(MAKERS) % 2]
        yield f"{make.__name__} given", asked, True, give
        yield f"{make.__name__} taken", asked, False, partial(world.delete, gone)


def test_the_console_agrees_with_kube_apiserver_after_every_change(world: World) -> None:
    world.create(user("tim"))
    seen = AccessQuestion("get", "authorization.k8s.io", "selfsubjectaccessreviews")
    eventually(
        lambda: world.authorizer.current_rights(Identity("tim")) is not None, f"tim may {seen}"
    )
    # kube-apiserver delays lists of a type by one second right after its CRD was created.
    informers = world.runtime.informers().values()
    eventually(lambda: all(item.freshness.synced for item in informers), "all is listed")
    waited: list[tuple[float, str]] = []
    for what, asked, allowed, do in _changes(world):
        do()
        begun = time.monotonic()

        def agreed(asked: AccessQuestion = asked, allowed: bool = allowed) -> bool:
            return (
                world.here("tim", (), asked) is allowed and world.there("tim", (), asked) is allowed
            )

        eventually(agreed, f"{what}: {asked}", timeout=15)
        waited.append((time.monotonic() - begun, what))
    waited.sort()
    assert len(waited) == CHANGES
    median, slowest = waited[len(waited) // 2][0], waited[-1]
    print(  # noqa: T201
        f"\n{CHANGES} changes: agreed after {median * 1e3:.0f} ms in the middle, "
        f"{slowest[0] * 1e3:.0f} ms at most ({slowest[1]})"
    )


def test_the_escalation_check_matches_kube_apiserver(world: World) -> None:
    """Compare `covers` with the server's check: users with random permissions create random roles."""
    rng = Chance(SEED)
    answers = set()
    for turn in range(ESCALATIONS):
        name = f"giver-{turn}"
        held = [_resources(rng) for _ in range(3)]
        may_write = rule("create", "clusterroles", "rbac.authorization.k8s.io")
        world.create(native_role(name, *held, may_write))
        world.create(native_binding(name, name, f"User {name}"))
        wanted = [rng.one(held) if rng.likely(0.6) else _resources(rng)]
        if rng.likely(0.5):
            wanted = [{**wanted[0], "verbs": wanted[0]["verbs"][:1]}]
        rules = parse_rules([*held, may_write])
        here = any_allows(rules, ESCALATE) or covers(rules, parse_rules(wanted))
        eventually(partial(_may_create, world, name), f"{name} may make roles")
        there = _created(world, name, wanted)
        assert here is there, (held, wanted)
        answers.add(here)
    assert answers == {True, False}


def _resources(rng: Chance) -> Manifest:
    """Return a random resource rule that kube-apiserver accepts in a role."""
    while True:
        found = rng.rule()
        if found.get("resources"):
            return found


def _may_create(world: World, name: str) -> bool:
    asked = AccessQuestion("create", CLUSTER_ROLES.group, CLUSTER_ROLES.resource)
    return world.there(name, (), asked)


def _created(world: World, name: str, wanted: list[Manifest]) -> bool:
    body = native_role(f"made-by-{name}", *wanted)
    body["metadata"] = {"name": body["metadata"]["name"]}
    client = world.runtime.as_user(Identity(name))
    try:
        world.runtime.spawn(client.create(CLUSTER_ROLES, body)).result(20)
    except Forbidden:
        return False
    return True
