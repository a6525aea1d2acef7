"""Differential test: the console and kube-apiserver give the same answers for random roles.

Runs on a real control plane. The controllers project roles of all levels with the console's own
identity.
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
from rbac.decision_comparison import VERBS, compare, random_questions
from rbac.rules import AccessQuestion, normalize_question, parse_rules
from tests.accounts.kubesphere import objects as kubesphere
from tests.contract.grants import review
from tests.controlplane.waiting import eventually
from tests.rbac.conftest import PLURALS, World
from tests.rbac.objects import (
    Manifest,
    rule,
    user,
    workspace_binding,
    workspace_role,
)
from tests.rbac.random_questions import PEOPLE, PROJECTS, Chance
from tests.support.depth import DEEP, SEED, number

QUESTIONS = 20_000 if DEEP else 400
#: Number of role sets. Each set is tested with QUESTIONS questions.
SETS = number(1, 5)
#: Types of the doctor's questions.
_TYPES = (GLOBAL_ROLES, USERS, GVR("", "v1", "pods"), GVR("apps", "v1", "deployments"))
#: Roles and bindings whose names exist in the bootstrapped control plane.
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


def who_asks(rng: Chance) -> tuple[str, tuple[str, ...]]:
    if rng.likely(0.15):
        home = rng.one(PROJECTS)
        name = rng.one(("one", "two"))
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{home}")
        return f"system:serviceaccount:{home}:{name}", groups
    return rng.one(PEOPLE), rng.groups()


@pytest.mark.parametrize("turn", range(SETS))
def test_random_roles_get_the_same_answers_as_from_kube_apiserver(world: World, turn: int) -> None:
    rng = Chance(SEED + 1_000 * turn)
    made: list[list[Manifest]] = []
    for make in (rng.native, rng.of_platform, rng.of_workspace):
        for _ in range(10):
            made.append([world.create(item) for item in make()])
    world.settle()
    asked = [(*who_asks(rng), rng.question()) for _ in range(QUESTIONS)]
    world.agree_on(asked)
    # Otherwise the comparison would be trivial.
    assert {world.here(*one) for one in asked} == {True, False}
    for _ in range(QUESTIONS // 10):
        (who, groups), path = who_asks(rng), rng.path()
        if not who.startswith("system:"):
            here = world.authorizer.allows_path(Identity(who, groups), "get", path)
            asked_for = (*groups, "system:authenticated")
            assert here is review(world.admin, who, asked_for, verb="get", path=path), (who, path)
    _follows_changes(world, rng, made)
    for pair in made:
        for item in pair:
            world.delete(item)


def _follows_changes(world: World, rng: Chance, made: list[list[Manifest]]) -> None:
    """Compare the answers for the affected subjects after each change of a grant."""
    for turn in range(12):
        pair = rng.one(made)
        if turn % 2:
            made.remove(pair)
            world.delete(pair[1 if rng.likely(0.7) else 0])
        else:
            make = rng.one((rng.native, rng.of_platform, rng.of_workspace))
            made.append([world.create(item) for item in make()])
        asked = [(*who_asks(rng), rng.question()) for _ in range(15)]
        world.agree_on(asked)


def test_a_workspace_role_grants_exactly_its_rules_in_its_projects(world: World) -> None:
    """The rules of the workspace role are the expected result of the projection."""
    rng = Chance(SEED + 1)
    rules = [rng.rule() for _ in range(3)]
    world.create(user("eve"))
    world.create(workspace_role("acme-eve", "acme", *rules))
    world.create(workspace_binding("acme-eve", "acme", "acme-eve", "User eve"))
    world.settle()
    eventually(lambda: world.runtime.informer(USERS).store.get(Key("", "eve")), "the user")
    asked = [normalize_question(rng.question()) for _ in range(150)]
    given = [
        one
        for one in asked
        if PROJECTS.get(one.namespace) == "acme"
        and any(found.allows(one) for found in parse_rules(rules))
    ]
    assert given
    # Objects of different projects are written in no fixed order, so the last one doesn't imply
    # that the others exist.
    eventually(lambda: all(world.here("eve", (), one) for one in given), "what the role says")
    world.agree_on([("eve", (), one) for one in asked])


def test_a_forged_workspace_label_grants_nothing(world: World) -> None:
    world.create(user("fay"))
    world.create(workspace_role("acme-fay", "acme", rule("*", "*", "*")))
    world.create(workspace_binding("acme-fay", "acme", "acme-fay", "User fay"))
    world.settle()
    asked = AccessQuestion("list", "", "pods", namespace="acme-one")
    eventually(lambda: world.here("fay", (), asked) and world.there("fay", (), asked), "in acme")
    for place in ("forged", "nobodys", "other-one", "kube-system", ""):
        refused = asked._replace(namespace=place)
        assert not world.here("fay", (), refused), place
        assert not world.there("fay", (), refused), place


def test_roles_of_a_kubesphere_installation_get_the_same_answers(world: World) -> None:
    """Roles of all levels as KubeSphere 3.4 creates them, including rules that only its own API
    server evaluates.
    """
    for item in kubesphere.everything():
        known = item["kind"] in PLURALS and item["metadata"]["name"] not in _BOOTSTRAPPED
        made = world.create(item) if known else {}
        if item["kind"] == "Workspace":
            for part in kubesphere.projects(made["metadata"]["name"], made["metadata"]["uid"]):
                world.create(part)
    world.settle()
    people = {"admin": (), "jane": (kubesphere.TEAM,), "pat": (), "new": (), "lee": ()}
    asked = [
        (who, groups, AccessQuestion(verb, group, resource, namespace=place))
        for who, groups in people.items()
        for verb in ("get", "list", "create", "update", "delete", "impersonate")
        for group, resource in _OF_KUBESPHERE
        for place in ("", "shop", "kube-system")
    ]
    rng = Chance(SEED + 2)
    for _ in range(max(0, QUESTIONS - len(asked))):
        who, (group, resource) = rng.one(people), rng.one(_OF_KUBESPHERE)
        verb, place = rng.one(VERBS), rng.one(("", "shop", "kube-system", *PROJECTS))
        name = rng.one(("", "shop", "demo", "demo-admin", "platform-admin", who))
        question = AccessQuestion(verb, group, resource, namespace=place, name=name)
        asked.append((who, people[who], question))
    world.agree_on(asked)
    may = {one for one in asked if world.here(*one)}
    viewer = ("jane", people["jane"], AccessQuestion("list", "", "pods", namespace="shop"))
    assert viewer in may
    assert ("pat", (), AccessQuestion("create", "", "pods", namespace="shop")) in may
    assert ("pat", (), AccessQuestion("list", "iam.kubesphere.io", "users")) in may
    # Only a platform administrator may write objects that grant permissions (ADR 8).
    assert ("pat", (), AccessQuestion("update", "iam.kubesphere.io", "users")) not in may
    native = ("", "apps", "batch", "rbac.authorization.k8s.io")
    requests = {(who, normalize_question(asked)) for who, _, asked in may}
    elsewhere = {one for one in requests if one[1].namespace == "kube-system"}
    assert {who for who, asked in elsewhere if asked.group in native} == {"admin"}


def test_the_doctor_reports_no_differences(world: World) -> None:
    eventually(lambda: world.runtime.informer(NAMESPACES).freshness.synced, "the projects")
    asked = random_questions(world.runtime, (*_TYPES, NAMESPACES), 100, SEED)
    assert len(asked) == 100
    assert world.runtime.spawn(compare(world.runtime, asked)).result(60) == []
