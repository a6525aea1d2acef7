"""Random roles, bindings and authorization questions from a small vocabulary, so that many nearly
match.
"""

import random
from typing import Any

from rbac.rules import AccessQuestion
from tests.rbac.objects import (
    Manifest,
    binding,
    global_role,
    native_binding,
    native_role,
    workspace_binding,
    workspace_role,
)

PEOPLE, TEAMS = ("ann", "bob", "cyd", "dan"), ("red", "blue")
#: Projects and their workspaces.
PROJECTS = {"acme-one": "acme", "acme-two": "acme", "other-one": "other", "nobodys": ""}
WORKSPACES = ("acme", "other")
_VERBS = ("get", "list", "watch", "delete", "create", "impersonate", "*")
_GROUPS = ("", "apps", "tenant.kubesphere.io", "iam.kubesphere.io", "*")
_RESOURCES = (
    *("pods", "pods/log", "pods/*", "deployments", "deployments/scale", "*/scale", "*"),
    *("namespaces", "nodes", "workspaces", "users", "globalrolebindings"),
)
_ASKED = (
    *(("", "pods"), ("", "pods/log"), ("", "namespaces"), ("", "nodes"), ("apps", "deployments")),
    *(("apps", "deployments/scale"), ("apps", "pods"), ("tenant.kubesphere.io", "workspaces")),
    *(("iam.kubesphere.io", "users"), ("iam.kubesphere.io", "globalrolebindings")),
)
_NAMES = ("one", "two", "acme", "acme-one", "")
_PATHS = ("/metrics", "/logs", "/logs/*", "/logs/a", "*", "/healthz/")


class Chance:
    """Generator of random objects from one seed.

    `nameless`: rules may contain the resource name "", which matches no object but every list.
    """

    def __init__(self, seed: int, *, nameless: bool = True) -> None:
        self.random = random.Random(seed)  # noqa: S311
        self._names = _NAMES if nameless else tuple(filter(None, _NAMES))
        self._seed = seed
        self._number = 0

    def one(self, words: Any) -> Any:
        return self.random.choice(list(words))

    def likely(self, share: float) -> bool:
        return self.random.random() < share

    def _some(self, words: tuple[str, ...]) -> list[str]:
        return self.random.sample(words, self.random.randint(1, 3))

    def _name(self) -> str:
        self._number += 1
        return f"random-{self._seed}-{self._number}"

    def rule(self) -> Manifest:
        found = {
            "verbs": self._some(_VERBS),
            "apiGroups": self._some(_GROUPS),
            "resources": self._some(_RESOURCES),
        }
        return {**found, "resourceNames": self._some(self._names)} if self.likely(0.3) else found

    def _any_rule(self) -> Manifest:
        if self.likely(0.2):
            return {"verbs": self._some(_VERBS), "nonResourceURLs": self._some(_PATHS)}
        return self.rule()

    def person(self) -> str:
        return f"User {self.one(PEOPLE)}"

    def subject(self) -> str:
        if self.likely(0.2):
            return f"ServiceAccount {self.one(PROJECTS)}/{self.one(_NAMES[:2])}"
        if self.likely(0.1):
            return "Group system:authenticated"
        return f"Group {self.one(TEAMS)}" if self.likely(0.3) else self.person()

    def native(self) -> list[Manifest]:
        """Return a Role or ClusterRole and its binding, for a namespace or the cluster."""
        place = self.one(PROJECTS)
        own, everywhere = self.likely(0.4), self.likely(0.3)
        role = native_role(
            self._name(), *(self.rule() if own else self._any_rule() for _ in range(2)),
            namespace=place if own else "",
        )  # fmt: skip
        bound = native_binding(
            self._name(), role["metadata"]["name"], self.subject(), self.subject(),
            namespace="" if everywhere and not own else place, kind=role["kind"],
        )  # fmt: skip
        return [role, bound]

    def of_platform(self) -> list[Manifest]:
        role = global_role(self._name(), self._any_rule(), self._any_rule())
        kind, who = self.person().split()
        return [role, binding(self._name(), (kind, who), role=role["metadata"]["name"])]

    def of_workspace(self) -> list[Manifest]:
        home = self.one(WORKSPACES)
        role = workspace_role(self._name(), home, self._any_rule(), self._any_rule())
        # Occasionally a role of another workspace.
        place = home if self.likely(0.8) else self.one(WORKSPACES)
        who = [self.person(), f"Group {self.one(TEAMS)}"]
        return [role, workspace_binding(self._name(), place, role["metadata"]["name"], *who)]

    def question(self) -> AccessQuestion:
        group, resource = self.one(_ASKED)
        resource, _, subresource = resource.partition("/")
        namespace = self.one((*PROJECTS, ""))
        return AccessQuestion(
            self.one(_VERBS[:-1]), group, resource, subresource, namespace, self.one(_NAMES)
        )

    def path(self) -> str:
        return str(self.one(("/metrics", "/logs", "/logs/a", "/healthz/", "/healthz")))

    def groups(self) -> tuple[str, ...]:
        return (self.one(TEAMS),) if self.likely(0.6) else ()
