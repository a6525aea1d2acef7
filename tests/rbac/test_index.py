"""Incrementally updated permissions equal permissions that are computed from scratch."""

from collections.abc import Iterable
from typing import Any

import pytest

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GVR,
    ROLE_BINDINGS,
    ROLES,
    Key,
)
from console.kube.informer import Informer
from rbac.grant_index import GrantIndex, SubjectKey
from rbac.rules import AccessQuestion, parse_rules
from rbac.subject_rights import SubjectRights
from tests.rbac.objects import Manifest, native_binding, native_role, rule
from tests.rbac.random_questions import PEOPLE, PROJECTS, TEAMS, Chance
from tests.support.depth import SEED, number
from tests.support.informers import bring, preloaded, take_away

TYPES = {
    "Role": ROLES,
    "ClusterRole": CLUSTER_ROLES,
    "RoleBinding": ROLE_BINDINGS,
    "ClusterRoleBinding": CLUSTER_ROLE_BINDINGS,
}
SEEDS = range(SEED, SEED + number(6, 60))
#: Questions for which the lists of namespaces and names are compared.
ASKED = [
    AccessQuestion(verb, group, resource, subresource)
    for verb in ("get", "list", "delete")
    for group, resource, subresource in (
        ("", "pods", ""),
        ("", "pods", "log"),
        ("apps", "deployments", ""),
        ("apps", "deployments", "scale"),
        ("", "namespaces", ""),
    )
]


class World:
    """Reference implementation that reads all objects, next to the index, which is fed by
    informers.
    """

    def __init__(self) -> None:
        self.informers: dict[GVR, Informer[Any]] = {gvr: preloaded(gvr) for gvr in TYPES.values()}
        self.objects: dict[tuple[str, Key], Manifest] = {}
        self.index = GrantIndex(*(self.informers[gvr].store for gvr in TYPES.values()))

    def put(self, item: Manifest) -> None:
        self.objects[item["kind"], key_of(item)] = item
        bring(self.informers[TYPES[item["kind"]]], item)

    def remove(self, item: Manifest) -> None:
        del self.objects[item["kind"], key_of(item)]
        take_away(self.informers[TYPES[item["kind"]]], item)

    def allows(self, who: SubjectKey, asked: AccessQuestion) -> bool:
        """Decide by reading all objects, as Kubernetes documents the rules."""
        return any(
            rule.allows(asked)
            for (kind, key), item in self.objects.items()
            if kind.endswith("Binding") and key.namespace in ("", asked.namespace)
            if any(names(subject, who, key.namespace) for subject in item["subjects"])
            for rule in parse_rules(self.role(item["roleRef"], key.namespace).get("rules"))
        )

    def role(self, ref: Manifest, namespace: str) -> Manifest:
        place = "" if ref["kind"] == "ClusterRole" else namespace
        return self.objects.get((ref["kind"], Key(place, ref["name"])), {})


def key_of(item: Manifest) -> Key:
    return Key(item["metadata"].get("namespace", ""), item["metadata"]["name"])


def names(subject: Manifest, who: SubjectKey, namespace: str) -> bool:
    match subject["kind"]:
        case "User":
            return bool(subject["name"] == who[0])
        case "Group":
            return subject["name"] in who[1]
    place = subject.get("namespace") or namespace
    return who[0] == f"system:serviceaccount:{place}:{subject['name']}"


def everybody() -> Iterable[SubjectKey]:
    for person in PEOPLE:
        yield person, ("system:authenticated",)
        yield person, (TEAMS[0], "system:authenticated")
    yield "system:serviceaccount:acme-one:one", ("system:serviceaccounts", "system:authenticated")


@pytest.mark.parametrize("seed", SEEDS)
def test_decisions_match_the_reference_after_each_change(seed: int) -> None:
    rng, world = Chance(seed), World()
    seen = set()
    for _ in range(40):
        if world.objects and rng.likely(0.35):
            item = rng.one(world.objects.values())
            if item["kind"].endswith("Role") and rng.likely(0.5):
                world.put({**item, "rules": [rng.rule()]})
            else:
                world.remove(item)
        else:
            for item in rng.native():
                world.put(item)
        for who in everybody():
            rights = world.index.rights_of(who)
            for _ in range(4):
                asked = rng.question()
                assert rights.allows(asked) is world.allows(who, asked), (who, asked)
                seen.add(rights.allows(asked))
    assert seen == {True, False}


@pytest.mark.parametrize("seed", SEEDS)
def test_namespace_and_name_lists_match_single_decisions(seed: int) -> None:
    rng, world = Chance(seed, nameless=False), World()
    for _ in range(12):
        for item in rng.native():
            world.put(item)
    for who in everybody():
        rights = world.index.rights_of(who)
        for wanted in ASKED:
            spaces = rights.namespaces_where(*wanted[:4])
            names = rights.names_where(*wanted[:4])
            for place in (*PROJECTS, "elsewhere"):
                asked = wanted._replace(namespace=place)
                assert rights.allows(asked) is (spaces is None or place in spaces), asked
                for name in ("one", "two", "three"):
                    single = {Key(place, name), Key("", name)} & names
                    expected = spaces is None or place in spaces or bool(single)
                    assert rights.allows(asked._replace(name=name)) is expected, (asked, name)


def test_an_empty_resource_name_matches_lists_but_no_object() -> None:
    """kube-apiserver compares the name in the request. A list request has no name."""
    world = World()
    nameless = {**rule("get list delete", "pods"), "resourceNames": [""]}
    world.put(native_role("reader", nameless, namespace="shop"))
    world.put(native_binding("reader", "reader", "User ann", namespace="shop", kind="Role"))
    rights = world.index.rights_of(("ann", ()))
    assert rights.allows(AccessQuestion("list", "", "pods", namespace="shop"))
    assert not rights.allows(AccessQuestion("get", "", "pods", namespace="shop", name="web"))
    assert rights.namespaces_where("list", "", "pods") == frozenset({"shop"})
    for verb in ("get", "delete"):
        assert rights.namespaces_where(verb, "", "pods") == frozenset()
        assert rights.names_where(verb, "", "pods") == frozenset()


def test_cached_rights_are_invalidated_only_by_relevant_changes() -> None:
    world, rng = World(), Chance(1)
    who = ("ann", ())
    rights = world.index.rights_of(who)
    assert world.index.rights_of(who) is rights
    other = rng.native()
    other[1]["subjects"] = [{"kind": "User", "name": "bob"}]
    for item in other:
        world.put(item)
    assert world.index.rights_of(who) is rights
    assert not rights.stale
    other[1]["subjects"].append({"kind": "User", "name": "ann"})
    world.put({**other[1], "metadata": {**other[1]["metadata"], "resourceVersion": "31"}})
    world.index.catch_up()
    assert rights.stale
    assert world.index.rights_of(who) is not rights


def test_decisions_about_names_that_cannot_exist_are_not_cached() -> None:
    rights = SubjectRights()
    for letter in "abc":
        name = letter * 254
        assert not rights.allows(AccessQuestion("get", "", "pods", name=name))
        assert not rights.allows(AccessQuestion("get", "", "pods", namespace=name))
    assert rights.answers == {}
