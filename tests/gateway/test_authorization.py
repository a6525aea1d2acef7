"""Random requests: the gateway allows exactly what kube-apiserver's SubjectAccessReview allows."""

import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from tests.gateway.demo import Demo, download
from tests.support.depth import SEED, number

pytestmark = pytest.mark.programs

#: Group, version, plural, whether it is namespaced, and a subresource.
TYPES = [
    *(("", "v1", one, True, "") for one in ("pods", "configmaps", "secrets", "services", "events")),
    *(("", "v1", one, False, "") for one in ("nodes", "namespaces", "persistentvolumes")),
    *(("", "v1", "pods", True, one) for one in ("log", "eviction", "ephemeralcontainers")),
    *(("apps", "v1", one, True, "") for one in ("deployments", "statefulsets", "daemonsets")),
    ("apps", "v1", "deployments", True, "scale"),
    ("batch", "v1", "jobs", True, ""),
    ("networking.k8s.io", "v1", "ingresses", True, ""),
    ("rbac.authorization.k8s.io", "v1", "roles", True, ""),
    ("rbac.authorization.k8s.io", "v1", "clusterroles", False, ""),
    ("storage.k8s.io", "v1", "storageclasses", False, ""),
    ("iam.kubesphere.io", "v1alpha2", "users", False, ""),
    ("tenant.kubesphere.io", "v1alpha1", "workspaces", False, ""),
]
NAMESPACES = ("", "payments", "checkout", "web", "kube-system", "absent")
NAMES = ("", "absent", "alice", "payments")
VERBS = {"get": "GET", "create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}
#: A name that no object has selects nothing, and no request changes anything.
HARMLESS = {"dryRun": "All", "labelSelector": "absent=absent", "limit": "1"}


@dataclass(frozen=True)
class Question:
    user: str
    verb: str
    method: str
    path: str
    attributes: tuple[tuple[str, str], ...]


def questions(random: Random, users: list[str]) -> Iterator[Question]:
    while True:
        group, version, plural, namespaced, subresource = random.choice(TYPES)
        namespace = random.choice(NAMESPACES) if namespaced else ""
        verb = random.choice(list(VERBS))
        name = random.choice(NAMES)
        if subresource or verb in ("update", "patch"):
            name = name or "absent"
        if verb == "create":
            name = name if subresource else ""
        if namespaced and not namespace and (verb == "create" or name):
            continue
        where = f"/namespaces/{namespace}" if namespace else ""
        prefix = f"/apis/{group}/{version}" if group else f"/api/{version}"
        path = "/".join(one for one in (f"{prefix}{where}/{plural}", name, subresource) if one)
        authorized = {"get": "list", "delete": "deletecollection"}.get(verb, verb)
        attributes = {
            "group": group,
            "version": version,
            "resource": plural,
            "subresource": subresource,
            "namespace": namespace or (name if plural == "namespaces" else ""),
            "name": name,
            "verb": verb if name else authorized,
        }
        user = random.choice(users)
        yield Question(user, verb, VERBS[verb], path, tuple(attributes.items()))


class Connection:
    """A connection to the gateway that is kept open, as one user."""

    def __init__(self, demo: Demo, token: str) -> None:
        self._http = http.client.HTTPConnection(urlsplit(demo.url).netloc, timeout=30)
        self._headers = {"Authorization": f"Bearer {token}"}
        self.close = self._http.close

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        kind = {"PATCH": "application/merge-patch+json"}.get(method, "application/json")
        data = json.dumps(body) if body is not None else None
        self._http.request(method, path, data, {**self._headers, "Content-Type": kind})
        answer = self._http.getresponse()
        content = answer.read()
        return answer.status, json.loads(content) if content.startswith(b"{") else {}


@pytest.mark.parametrize("part", range(number(1, 10)))
def test_the_gateway_agrees_with_subject_access_reviews(demo: Demo, part: int) -> None:
    random = Random(SEED + part)  # noqa: S311
    users = ["alice", "bob", "charlie"]
    tokens = {one: download(demo.visitor(one), "full") for one in users}
    with closing(Connection(demo, demo.token("admin"))) as admin:
        allowed = 0
        connections = {one: Connection(demo, token) for one, token in tokens.items()}
        asked = questions(random, users)
        for _ in range(number(300, 1_000)):
            question = next(asked)
            granted = _reviewed(admin, question)
            allowed += granted
            assert _is_allowed(connections[question.user], question) == granted, question
        for one in connections.values():
            one.close()
    assert allowed > 20


def _reviewed(admin: Connection, question: Question) -> bool:
    spec = {
        "user": question.user,
        "groups": ["system:authenticated"],
        "resourceAttributes": dict(question.attributes),
    }
    status, review = admin.ask(
        "POST",
        "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": spec,
        },
    )
    assert status == 201, review
    return bool(review["status"]["allowed"])


def _is_allowed(connection: Connection, question: Question) -> bool:
    body: Any = {} if question.method in ("POST", "PUT", "PATCH") else None
    path = f"{question.path}?{urlencode(HARMLESS)}"
    status, answer = connection.ask(question.method, path, body)
    assert status not in (401, 429, 500, 503), (question, answer)
    denied = f'User "{question.user}" cannot {dict(question.attributes)["verb"]} '
    return not (status == 403 and denied in str(answer.get("message")))
