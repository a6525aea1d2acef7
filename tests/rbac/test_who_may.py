"""Who may perform a request: agreement with kube-apiserver, and the cost of the query.

The comparison runs on a real control plane with random roles of all levels.
"""

from typing import Any

import pytest

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    ROLE_BINDINGS,
    ROLES,
)
from rbac.grant_index import GrantIndex
from rbac.memberships import groups_of
from rbac.rules import AccessQuestion, normalize_question
from rbac.who_may import MASTERS, Holder, who_may
from tests.access.groups import group, group_binding
from tests.contract.grants import review
from tests.controlplane.waiting import eventually
from tests.rbac.conftest import World
from tests.rbac.objects import native_binding, native_role, rule
from tests.rbac.random_questions import PEOPLE, PROJECTS, TEAMS, Chance
from tests.support.depth import SEED, number
from tests.support.informers import preloaded

QUESTIONS = number(25, 400)
_EVERYBODY = "system:authenticated"


def is_listed(holders: list[Holder], name: str, groups: tuple[str, ...]) -> bool:
    """Return True if the answer contains the user, or a group that Kubernetes adds."""
    listed = {(one.kind, one.name) for one in holders}
    return ("User", name) in listed or any(("Group", one) in listed for one in groups)


def is_account_listed(holders: list[Holder], namespace: str, name: str) -> bool:
    listed = {(one.kind, one.name) for one in holders}
    groups = (_EVERYBODY, "system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return ("ServiceAccount", f"{namespace}/{name}") in listed or any(
        ("Group", one) in listed for one in groups
    )


def test_kube_apiserver_allows_exactly_the_listed_users_and_service_accounts(
    world: World,
) -> None:
    chance = Chance(SEED + 7_000)
    members = {"red": PEOPLE[:2], "blue": PEOPLE[1:3]}
    made: list[dict[str, Any]] = []
    for team in TEAMS:
        made += [world.create(group(team))]
        made += [world.create(group_binding(f"{team}-1", team, *members[team]))]
    for make in (chance.native, chance.of_platform, chance.of_workspace):
        for _ in range(10):
            made += [world.create(item) for item in make()]
    world.runtime.require((GROUPS, GROUP_BINDINGS))
    eventually(lambda: groups_of(world.runtime, PEOPLE[1]) == ("blue", "red"), "the groups")
    world.settle()
    found = set()
    for _ in range(QUESTIONS):
        asked = normalize_question(chance.question())
        left: list[object] = []

        def agreed(asked: AccessQuestion = asked, left: list[object] = left) -> bool:
            holders = who_may(world.runtime, world.authorizer, asked)
            assert holders is not None
            left[:] = [one for one in _cases(world, holders, asked) if one[1] is not one[2]]
            return not left

        try:
            eventually(agreed, "the same answers", timeout=15)
        except TimeoutError:
            raise AssertionError((asked, left)) from None
        holders = who_may(world.runtime, world.authorizer, asked) or []
        found |= {listed for _who, listed, _allowed in _cases(world, holders, asked)}
        assert review(world.admin, "someone", (MASTERS,), **asked._asdict())
        assert ("Group", MASTERS) in {(one.kind, one.name) for one in holders}
    # Otherwise the comparison would be trivial.
    assert found == {True, False}
    for item in reversed(made):
        world.delete(item)


def _cases(
    world: World, holders: list[Holder], asked: AccessQuestion
) -> list[tuple[str, bool, bool]]:
    """Return each user and service account, whether the answer lists it, and the decision of
    kube-apiserver.
    """
    found = []
    attributes = asked._asdict()
    for name in PEOPLE:
        groups = groups_of(world.runtime, name)
        allowed = review(world.admin, name, (*groups, _EVERYBODY), **attributes)
        found.append((name, is_listed(holders, name, (_EVERYBODY,)), allowed))
    for namespace in PROJECTS:
        for name in ("one", "two"):
            account = f"system:serviceaccount:{namespace}:{name}"
            groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", _EVERYBODY)
            allowed = review(world.admin, account, groups, **attributes)
            found.append((account, is_account_listed(holders, namespace, name), allowed))
    return found


def test_only_bindings_of_the_namespace_and_the_cluster_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    roles = [native_role("edits", rule("delete", "pods"), namespace="web")]
    bindings = [
        native_binding(f"other-{at}", "edits", f"User user-{at}", namespace=f"project-{at}")
        for at in range(50)
    ]
    bindings.append(
        native_binding("edits", "edits", "User ann", "Group ops", namespace="web", kind="Role")
    )
    objects = {ROLES: roles, CLUSTER_ROLES: [], ROLE_BINDINGS: bindings, CLUSTER_ROLE_BINDINGS: []}
    informers = [preloaded(gvr, items) for gvr, items in objects.items()]
    index = GrantIndex(*(informer.store for informer in informers))
    asked = AccessQuestion("delete", "", "pods", namespace="web")
    index.who_may(asked)
    evaluated = []

    def count(self: GrantIndex, role: Any) -> Any:
        evaluated.append(role)
        return original(self, role)

    original = GrantIndex._rules
    monkeypatch.setattr(GrantIndex, "_rules", count)
    found = index.who_may(asked)
    assert [one.subject for one in found] == ["User ann", "Group ops"]
    assert {role.namespace for role in evaluated} == {"web"}
