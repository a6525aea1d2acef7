"""The doctor command reports all differences between the console's and kube-apiserver's decisions,
and only those.
"""

from typing import Any, cast

import pytest

from console.kube.clients import UserClient
from console.kube.errors import ServerError
from console.kube.gvr import (
    NAMESPACES,
    PODS,
)
from console.kube.identity import Identity
from rbac import decision_comparison
from rbac.decision_comparison import compare, random_questions, usable_identities
from rbac.rules import AccessQuestion
from tests.rbac.review_server import runtime
from tests.support.staticruntime import StaticRuntime

ADMIN, BOB = Identity("admin"), Identity("bob")
ASKED = AccessQuestion("delete", "", "pods", namespace="shop")


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision_comparison, "SECOND_LOOK", 0)


async def test_equal_decisions_are_not_reported() -> None:
    found = runtime(lambda who: who == "admin")
    assert usable_identities(found) == [ADMIN, BOB]
    asked = random_questions(found, [PODS, NAMESPACES], 50, 1)
    assert len(asked) == 50
    assert {who.name for who, _ in asked} == {"admin", "bob"}
    assert asked == random_questions(found, [PODS, NAMESPACES], 50, 1)
    assert await compare(found, asked) == []


async def test_each_difference_is_reported() -> None:
    found = await compare(runtime(lambda who: who == "bob"), [(ADMIN, ASKED), (BOB, ASKED)])
    assert [str(one) for one in found] == [
        "admin: delete pods in shop: the console allows this, kube-apiserver denies it",
        "bob: delete pods in shop: the console denies this, kube-apiserver allows it",
    ]


async def test_a_transient_difference_is_not_reported() -> None:
    answers = iter([False, True])
    assert await compare(runtime(lambda _who: next(answers)), [(ADMIN, ASKED)]) == []


def test_there_are_no_questions_without_users() -> None:
    assert random_questions(runtime(lambda _who: True), [], 10, 1) == []


@pytest.mark.parametrize("status", [None, "yes", [], {}, {"allowed": "yes"}, {"allowed": None}])
async def test_an_invalid_review_status_raises_a_server_error(status: object) -> None:
    class Reviewing:
        async def create(self, *_arguments: Any, **_options: Any) -> dict[str, Any]:
            return {"status": status}

    found = runtime(lambda _who: True)
    odd = StaticRuntime(found.informers(), user_client=lambda _who: cast(UserClient, Reviewing()))
    with pytest.raises(ServerError):
        await compare(odd, [(ADMIN, ASKED)])
