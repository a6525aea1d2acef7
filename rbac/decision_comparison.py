"""Compare the console's authorization decisions with those of kube-apiserver, impersonating each
user.

kube-apiserver may use other authorizers in addition to RBAC, and roles may change during the
comparison. Differences are therefore checked a second time before they are reported.
"""

import asyncio
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from console.kube.errors import InvalidResponse
from console.kube.gvr import GVR, NAMESPACES, USERS
from console.kube.identity import Identity
from console.kube.runtime import Runtime
from rbac.authorizer import Authorizer
from rbac.memberships import usable_identity
from rbac.rules import AccessQuestion, normalize_question

#: Every authenticated user may create these reviews (`system:basic-user`).
REVIEWS = GVR("authorization.k8s.io", "v1", "selfsubjectaccessreviews")
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete")
#: Number of concurrent reviews, and seconds until differences are checked again.
AT_ONCE, SECOND_LOOK = 8, 1.0


@dataclass(frozen=True, slots=True)
class Disagreement:
    who: str
    asked: AccessQuestion
    here: bool

    def __str__(self) -> str:
        asked = self.asked
        resource = GVR(asked.group, "", asked.resource).qualified
        name = f" {asked.name}" if asked.name else ""
        where = f"in {asked.namespace}" if asked.namespace else "in the whole cluster"
        here, there = ("allows", "denies") if self.here else ("denies", "allows")
        what = f"{self.who}: {asked.verb} {resource}{name} {where}"
        return f"{what}: the console {here} this, kube-apiserver {there} it"


def usable_identities(runtime: Runtime) -> list[Identity]:
    """Return all users who may sign in, sorted by name."""
    entries = runtime.informer(USERS).store.snapshot().entries.values()
    found = (usable_identity(runtime, entry.projection) for entry in entries)
    return sorted((one for one in found if one is not None), key=lambda identity: identity.name)


def random_questions(
    runtime: Runtime, types: Iterable[GVR], count: int, seed: int
) -> list[tuple[Identity, AccessQuestion]]:
    """Return `count` random questions about all users, types and projects. Equal seeds give equal
    questions.
    """
    chance = random.Random(seed)  # noqa: S311  no secret
    who, known = usable_identities(runtime), sorted(types)
    places = sorted(key.name for key in runtime.informer(NAMESPACES).store.snapshot().entries)
    if not who or not known:
        return []
    found = []
    for _ in range(count):
        gvr = chance.choice(known)
        place = chance.choice(["", *places])
        asked = AccessQuestion(chance.choice(VERBS), gvr.group, gvr.resource, namespace=place)
        if gvr == NAMESPACES:
            asked = normalize_question(asked._replace(name=place))
        found.append((chance.choice(who), asked))
    return found


async def compare(
    runtime: Runtime, asked: Sequence[tuple[Identity, AccessQuestion]]
) -> list[Disagreement]:
    """Return the decisions that differ. Raise `ApiError` if kube-apiserver does not answer."""
    authorizer = Authorizer(runtime)
    slots = asyncio.Semaphore(AT_ONCE)

    async def look(identity: Identity, question: AccessQuestion) -> Disagreement | None:
        async with slots:
            there = await _review(runtime, identity, question)
        here = authorizer.access_for(identity).can(
            question.verb,
            GVR(question.group, "", question.resource),
            namespace=question.namespace,
            name=question.name,
        )
        return Disagreement(identity.name, question, here) if here is not there else None

    first = await asyncio.gather(*(look(*one) for one in asked))
    again = [one for one, differs in zip(asked, first, strict=True) if differs]
    if again:
        await asyncio.sleep(SECOND_LOOK)
    return [found for found in await asyncio.gather(*(look(*one) for one in again)) if found]


async def _review(runtime: Runtime, identity: Identity, asked: AccessQuestion) -> bool:
    body = {
        "apiVersion": REVIEWS.group_version,
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": asked._asdict()},
    }
    answer = await runtime.as_user(identity).create(REVIEWS, body, stored=False)
    status = answer.get("status")
    if not isinstance(status, dict) or not isinstance(status.get("allowed"), bool):
        raise InvalidResponse
    return bool(status["allowed"])
