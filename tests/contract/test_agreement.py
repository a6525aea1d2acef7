"""The embedded cluster makes the same authorization decisions as kube-apiserver.

Random roles with a small vocabulary, so that they often nearly match, and random questions about
them. Both clusters get the same roles, bindings, and questions.
"""

import random
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Clients, Cluster
from tests.contract.grants import Grants, group, review, role_ref, rule, service_account, user
from tests.contract.objects import NAMESPACES, unique
from tests.support.depth import SEED, number

_ROLE_SETS = number(13, 100)
#: Questions per role set. More questions are asked until both decisions occurred.
_QUESTIONS, _MOST = 12, 200

_VERBS = ["get", "list", "delete", "*"]
_GROUPS = ["", "apps", "*"]
_RESOURCES = ["pods", "pods/log", "pods/*", "deployments", "deployments/scale", "*/scale", "*"]
_NAMES = ["one", "two", ""]
_PATHS = ["/metrics", "/logs", "/logs/*", "/logs/a", "*", "/healthz/"]


@dataclass(frozen=True)
class Question:
    """A user, the user's groups, and the attributes of a SubjectAccessReview."""

    who: str
    groups: list[str]
    attributes: dict[str, str]


class Chance:
    """Random test data from one seed."""

    def __init__(self, seed: int, tag: str, namespaces: list[str]) -> None:
        self._random = random.Random(seed)  # noqa: S311
        self._tag, self._namespaces = tag, namespaces

    def some(self, words: list[str]) -> list[str]:
        return self._random.sample(words, self._random.randint(1, len(words) - 1))

    def one(self, words: list[str]) -> str:
        return self._random.choice(words)

    def likely(self, share: float) -> bool:
        return self._random.random() < share

    def rule(self) -> Obj:
        if self.likely(0.2):
            return {"verbs": self.some(_VERBS), "nonResourceURLs": self.some(_PATHS)}
        return self.resource_rule()

    def resource_rule(self) -> Obj:
        found: Obj = {"verbs": self.some(_VERBS), "resources": self.some(_RESOURCES)}
        found["apiGroups"] = self.some(_GROUPS)
        if self.likely(0.3):
            found["resourceNames"] = [self.one(_NAMES[:2])]
        return found

    def subject(self) -> Obj:
        kinds = [
            user(self.who()),
            group(self.team()),
            service_account(self._namespaces[0], self.one(_NAMES[:2])),
            group(f"system:serviceaccounts:{self.one(self._namespaces)}"),
        ]
        return self._random.choice(kinds)

    def who(self) -> str:
        return f"{self.one(['ann', 'bob'])}-{self._tag}"

    def team(self) -> str:
        return f"{self.one(['red', 'blue'])}-{self._tag}"

    def question(self) -> Question:
        if self.likely(0.25):
            namespace, name = self.one(self._namespaces), self.one(_NAMES[:2])
            who = f"system:serviceaccount:{namespace}:{name}"
            everybody = f"system:serviceaccounts:{namespace}"
            return Question(who, ["system:serviceaccounts", everybody], self.attributes())
        teams = [self.team()] if self.likely(0.8) else []
        return Question(self.who(), teams, self.attributes())

    def attributes(self) -> dict[str, str]:
        verb = self.one(["get", "list", "delete", "watch"])
        if self.likely(0.2):
            return {"verb": verb, "path": self.one(["/metrics", "/logs", "/logs/a", "/healthz/"])}
        plural, _, sub = self.one(
            ["pods", "pods/log", "deployments", "deployments/scale"]
        ).partition("/")
        return {
            "verb": verb,
            "group": self.one(["", "apps"]),
            "resource": plural,
            "subresource": sub,
            "name": self.one(_NAMES),
            "namespace": self.one([*self._namespaces, self._namespaces[0], ""]),
        }


@pytest.fixture(scope="module")
def both(embedded_cluster: Cluster, real_cluster: Cluster) -> Iterator[list[Client]]:
    with ExitStack() as stack:
        yield [Clients(cluster, stack).admin() for cluster in (embedded_cluster, real_cluster)]


def grant(grants: Grants, rng: Chance) -> None:
    """Create one role set: some roles of either kind, each with a binding."""
    for _ in range(6):
        grants.here(rng.subject(), rng.resource_rule())
    for _ in range(6):
        role = grants.cluster_role(rng.rule(), rng.resource_rule())
        if rng.likely(0.5):
            grants.bind_everywhere(rng.subject(), role)
        else:
            grants.bind_here(rng.subject(), role_ref("ClusterRole", role))


def settle(grants: Grants, tag: str) -> None:
    """Wait until all grants are in effect. Grants of each kind that were created last take effect
    last.
    """
    who, sign = f"sign-{tag}", rule("get", "signs")
    grants.here(user(who), sign)
    grants.wait(who, namespace=grants.namespace, verb="get", resource="signs")
    grants.everywhere(user(who), sign)
    grants.wait(who, verb="get", resource="signs")


@pytest.mark.parametrize("seed", range(SEED, SEED + _ROLE_SETS))
def test_both_clusters_make_the_same_decisions(both: list[Client], seed: int) -> None:
    tag, namespaces = unique("t"), [unique("contract") for _ in range(2)]
    with ExitStack() as stack:
        for admin in both:
            cleanup = Cleanup(admin, stack)
            for namespace in namespaces:
                cleanup.create(NAMESPACES, {"metadata": {"name": namespace}})
            grants = Grants(cleanup, namespaces[0])
            grant(grants, Chance(seed, tag, namespaces))
            settle(grants, tag)
        rng, seen = Chance(-seed, tag, namespaces), set[bool]()
        for turn in range(_MOST):
            seen.add(answer_of_both(both, rng.question()))
            if turn + 1 >= _QUESTIONS and len(seen) == 2:
                return
    raise AssertionError(f"every answer was {seen}")


def answer_of_both(both: list[Client], question: Question) -> bool:
    embedded, real = (
        review(admin, question.who, question.groups, **question.attributes) for admin in both
    )
    assert embedded is real, question
    return real
