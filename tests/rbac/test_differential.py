"""The console and kube-apiserver give the same answer, whatever the roles are.

Random worlds on a real control plane, with roles of all levels, which the controllers project as the
console's own identity.
"""

import pytest

from console.kube.gvr import (
    GLOBAL_ROLES,
    GVR,
    NAMESPACES,
    USERS,
    Key,
)
from console.kube.identity import Identity
from rbac.comparing import VERBS, compare, questions
from rbac.rules import Question, as_requested, parse_rules
from tests.accounts.kubesphere import objects as kubesphere
from tests.contract.grants import review
from tests.controlplane.waiting import eventually
from tests.depth import DEEP, SEED, number
from tests.rbac.chance import PEOPLE, PROJECTS, Chance
from tests.rbac.conftest import PLURALS, World
from tests.rbac.objects import (
    Manifest,
    rule,
    user,
    workspace_binding,
    workspace_role,
)

QUESTIONS = 20_000 if DEEP else 400
#: Sets of roles, each of which is asked so many questions.
SETS = number(1, 5)
#: What the doctor asks about.
_TYPES = (GLOBAL_ROLES, USERS, GVR("", "v1", "pods"), GVR("apps", "v1", "deployments"))
#: Of which there is one of the name already.
_BOOTSTRAPPED = frozenset(
    {"admin", "admin-platform-admin", "platform-admin", "platform-regular"}
    | {"platform-self-provisioner", "cluster-viewer"}
)
_OF_KUBESPHERE = (
    *(("", "pods"), ("", "secrets"), ("", "configmaps"), ("", "nodes"), ("", "namespaces")),
    *(("apps", "deployments"), ("batch", "jobs"), ("iam.kubesphere.io", "users")),
    *(("iam.kubesphere.io", "globalroles"), ("iam.kubesphere.io", "workspacemembers")),
    *(("tenant.kubesphere.io", "workspaces"), ("rbac.authorization.k8s.io", "rolebindings")),
)


def who_asks(chance: Chance) -> tuple[str, tuple[str, ...]]:
    if chance.likely(0.15):
        home = chance.one(PROJECTS)
        name = chance.one(("one", "two"))
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{home}")
        return f"system:serviceaccount:{home}:{name}", groups
    return chance.one(PEOPLE), chance.groups()


@pytest.mark.parametrize("turn", range(SETS))
def it_agrees_with_kube_apiserver(world: World, turn: int) -> None:
    chance = Chance(SEED + 1_000 * turn)
    made: list[list[Manifest]] = []
    for make in (chance.native, chance.of_platform, chance.of_workspace):
        for _ in range(10):
            made.append([world.create(item) for item in make()])
    world.settle()
    asked = [(*who_asks(chance), chance.question()) for _ in range(QUESTIONS)]
    world.agree_on(asked)
    # Else nothing was tried.
    assert {world.here(*one) for one in asked} == {True, False}
    for _ in range(QUESTIONS // 10):
        (who, groups), path = who_asks(chance), chance.path()
        if not who.startswith("system:"):
            here = world.authorizer.allows_path(Identity(who, groups), "get", path)
            asked_for = (*groups, "system:authenticated")
            assert here is review(world.admin, who, asked_for, verb="get", path=path), (who, path)
    _follows_changes(world, chance, made)
    for pair in made:
        for item in pair:
            world.delete(item)


def _follows_changes(world: World, chance: Chance, made: list[list[Manifest]]) -> None:
    """After each change of a grant, for whomever it is about."""
    for turn in range(12):
        pair = chance.one(made)
        if turn % 2:
            made.remove(pair)
            world.delete(pair[1 if chance.likely(0.7) else 0])
        else:
            make = chance.one((chance.native, chance.of_platform, chance.of_workspace))
            made.append([world.create(item) for item in make()])
        asked = [(*who_asks(chance), chance.question()) for _ in range(15)]
        world.agree_on(asked)


def it_gives_what_a_workspace_role_says_and_only_in_its_projects(world: World) -> None:
    """The rules of the role itself are what must come out of the projection."""
    chance = Chance(SEED + 1)
    rules = [chance.rule() for _ in range(3)]
    world.create(user("eve"))
    world.create(workspace_role("acme-eve", "acme", *rules))
    world.create(workspace_binding("acme-eve", "acme", "acme-eve", "User eve"))
    world.settle()
    eventually(lambda: world.runtime.informer(USERS).store.get(Key("", "eve")), "the user")
    asked = [as_requested(chance.question()) for _ in range(150)]
    given = [
        one
        for one in asked
        if PROJECTS.get(one.namespace) == "acme"
        and any(found.allows(one) for found in parse_rules(rules))
    ]
    assert given
    # Objects of different projects are written in no order: what came last says nothing of these.
    eventually(lambda: all(world.here("eve", (), one) for one in given), "what the role says")
    world.agree_on([("eve", (), one) for one in asked])


def it_gives_nothing_in_a_project_that_only_says_it_is_of_the_workspace(world: World) -> None:
    world.create(user("fay"))
    world.create(workspace_role("acme-fay", "acme", rule("*", "*", "*")))
    world.create(workspace_binding("acme-fay", "acme", "acme-fay", "User fay"))
    world.settle()
    asked = Question("list", "", "pods", namespace="acme-one")
    eventually(lambda: world.here("fay", (), asked) and world.there("fay", (), asked), "in acme")
    for place in ("forged", "nobodys", "other-one", "kube-system", ""):
        refused = asked._replace(namespace=place)
        assert not world.here("fay", (), refused), place
        assert not world.there("fay", (), refused), place


def it_agrees_about_the_roles_of_a_kubesphere_installation(world: World) -> None:
    """Those of all levels, as KubeSphere 3.4 makes them, with what only its own server reads in them."""
    for item in kubesphere.everything():
        known = item["kind"] in PLURALS and item["metadata"]["name"] not in _BOOTSTRAPPED
        made = world.create(item) if known else {}
        if item["kind"] == "Workspace":
            for part in kubesphere.projects(made["metadata"]["name"], made["metadata"]["uid"]):
                world.create(part)
    world.settle()
    people = {"admin": (), "jane": (kubesphere.TEAM,), "pat": (), "new": (), "lee": ()}
    asked = [
        (who, groups, Question(verb, group, resource, namespace=place))
        for who, groups in people.items()
        for verb in ("get", "list", "create", "update", "delete", "impersonate")
        for group, resource in _OF_KUBESPHERE
        for place in ("", "shop", "kube-system")
    ]
    chance = Chance(SEED + 2)
    for _ in range(max(0, QUESTIONS - len(asked))):
        who, (group, resource) = chance.one(people), chance.one(_OF_KUBESPHERE)
        verb, place = chance.one(VERBS), chance.one(("", "shop", "kube-system", *PROJECTS))
        name = chance.one(("", "shop", "demo", "demo-admin", "platform-admin", who))
        question = Question(verb, group, resource, namespace=place, name=name)
        asked.append((who, people[who], question))
    world.agree_on(asked)
    may = {one for one in asked if world.here(*one)}
    viewer = ("jane", people["jane"], Question("list", "", "pods", namespace="shop"))
    assert viewer in may
    assert ("pat", (), Question("create", "", "pods", namespace="shop")) in may
    assert ("pat", (), Question("list", "iam.kubesphere.io", "users")) in may
    # What gives rights is a platform administrator's alone to write (ADR 8).
    assert ("pat", (), Question("update", "iam.kubesphere.io", "users")) not in may
    native = ("", "apps", "batch", "rbac.authorization.k8s.io")
    requests = {(who, as_requested(asked)) for who, _, asked in may}
    elsewhere = {one for one in requests if one[1].namespace == "kube-system"}
    assert {who for who, asked in elsewhere if asked.group in native} == {"admin"}


def it_gives_the_doctor_nothing_to_find(world: World) -> None:
    eventually(lambda: world.runtime.informer(NAMESPACES).freshness.synced, "the projects")
    asked = questions(world.runtime, (*_TYPES, NAMESPACES), 100, SEED)
    assert len(asked) == 100
    assert world.runtime.spawn(compare(world.runtime, asked)).result(60) == []
