"""Cost of authorization decisions with as many users, workspaces and bindings as in a large
company.

No cluster is needed: the stores are filled directly.
"""

import gc
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from bench.memory import measure as measure_memory
from bench.result import Result, percentile
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    DEPLOYMENTS,
    GVR,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SERVICES,
    USERS,
)
from console.kube.identity import Identity
from console.kube.informer import Informer
from rbac.authorizer import Authorizer
from tests.support.informers import bring, preloaded
from tests.support.staticruntime import StaticRuntime

Obj = dict[str, Any]

USER_COUNT, WORKSPACE_COUNT, NAMESPACE_COUNT, BINDING_COUNT = 2_000, 500, 5_000, 30_000
#: Decisions per page, users whose first decision is measured, and number of changed bindings.
QUESTIONS, FIRST, CHANGED = 100, 500, 200
_RBAC = "rbac.authorization.k8s.io"
_LEVELS = ("admin", "viewer", "self-provisioner")


def measure() -> list[Result]:
    world = _informers()
    _fill(world)
    empty = measure_memory().released
    authorizer = Authorizer(StaticRuntime(world))
    # The first decision of the process builds the index.
    _page(authorizer, 0, 1)
    first = [_timed(partial(_page, authorizer, number, 1)) for number in range(1, FIRST)]
    for number in range(USER_COUNT):
        _page(authorizer, number, QUESTIONS)
    memory = measure_memory().released - empty
    return [
        Result("rights_repeated_us", BINDING_COUNT, _repeated(authorizer) * 1e6, "us"),
        Result("rights_first_ms", BINDING_COUNT, percentile(first, 0.95) * 1e3, "ms"),
        Result("rights_changed_ms", BINDING_COUNT, _changed(authorizer, world) * 1e3, "ms"),
        Result("rights_mb", BINDING_COUNT, memory / 1e6, "MB"),
    ]


def _repeated(authorizer: Authorizer) -> float:
    """Return the seconds per repeated decision, for the best of several rounds."""
    access = authorizer.access_for(Identity("user-7"))
    spaces = [f"project-{number}" for number in range(QUESTIONS)]

    def ask() -> None:
        for space in spaces:
            access.can("delete", PODS, namespace=space, name="web-1")

    ask()
    return min(_timed(ask) for _ in range(50)) / QUESTIONS


def _changed(authorizer: Authorizer, world: dict[GVR, Informer[Any]]) -> float:
    """Return the seconds from a changed binding to the next decision for its user."""
    found = []
    for number in range(CHANGED):
        name = f"user-{number}"
        access = authorizer.access_for(Identity(name))
        binding = _binding(number, f"project-{number}", [name], version=10_000_000 + number)
        bring(world[ROLE_BINDINGS], binding)
        found.append(_timed(partial(access.can, "list", PODS)))
    return percentile(found, 0.95)


def _page(authorizer: Authorizer, number: int, questions: int) -> None:
    access = authorizer.access_for(
        Identity(f"user-{number % USER_COUNT}", (f"team-{number % 200}",))
    )
    for question in range(questions):
        gvr = (PODS, SERVICES, DEPLOYMENTS)[question % 3]
        access.can("delete", gvr, namespace=f"project-{number + question}", name=f"web-{question}")
    access.namespaces_where("list", PODS)


def _timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _informers() -> dict[GVR, Informer[Any]]:
    types = (USERS, ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS)
    return {gvr: preloaded(gvr) for gvr in types}


def _fill(world: dict[GVR, Informer[Any]]) -> None:
    users = [_object(f"user-{number}", spec={"email": ""}) for number in range(USER_COUNT)]
    roles = [
        _object(f"workspace-{number}-{level}", rules=_rules(level))
        for number in range(WORKSPACE_COUNT)
        for level in _LEVELS
    ]
    projects = [
        _object(name, f"project-{number}", rules=_rules(name))
        for number in range(NAMESPACE_COUNT)
        for name in ("admin", "operator", "viewer")
    ]
    bindings = [
        _binding(number, f"project-{number % NAMESPACE_COUNT}", _members(number))
        for number in range(BINDING_COUNT)
    ]
    everywhere = [
        _object(
            f"team-{number}",
            roleRef={
                "apiGroup": _RBAC,
                "kind": "ClusterRole",
                "name": f"workspace-{number}-viewer",
            },
            subjects=[{"kind": "Group", "name": f"platform-{number}"}],
        )
        for number in range(200)
    ]
    for gvr, objects in (
        (USERS, users),
        (CLUSTER_ROLES, roles),
        (ROLES, projects),
        (ROLE_BINDINGS, bindings),
        (CLUSTER_ROLE_BINDINGS, everywhere),
    ):
        world[gvr].replace([msgspec.Raw(msgspec.json.encode(one)) for one in objects], "1")
    gc.collect()


def _members(number: int) -> list[str]:
    return [f"user-{(number * 7 + step) % USER_COUNT}" for step in range(3)]


def _binding(number: int, namespace: str, users: list[str], version: int = 1) -> Obj:
    """Return a binding, alternately to a workspace role and to a project role."""
    level = _LEVELS[number % 3]
    workspace = number % NAMESPACE_COUNT % WORKSPACE_COUNT
    role = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": f"workspace-{workspace}-{level}"}
    if number % 2:
        role |= {"kind": "Role", "name": ("admin", "operator", "viewer")[number % 3]}
    subjects = [{"apiGroup": _RBAC, "kind": "User", "name": name} for name in users]
    subjects.append({"apiGroup": _RBAC, "kind": "Group", "name": f"team-{number % 200}"})
    name = f"binding-{number}"
    return _object(name, namespace, version, roleRef=role, subjects=subjects)


def _rules(level: str) -> list[Obj]:
    verbs = ["*"] if level == "admin" else ["get", "list", "watch"]
    return [
        {"apiGroups": [group], "resources": resources, "verbs": verbs}
        for group, resources in (
            ("", ["pods", "pods/log", "services", "configmaps", "events"]),
            ("apps", ["deployments", "statefulsets", "daemonsets"]),
            ("batch", ["jobs", "cronjobs"]),
        )
    ]


def _object(name: str, namespace: str = "", version: int = 1, **more: Any) -> Obj:
    meta = {"name": name, "uid": f"uid-{namespace}-{name}", "resourceVersion": str(version)}
    return {"metadata": {**meta, **({"namespace": namespace} if namespace else {})}, **more}
