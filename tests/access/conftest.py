"""Fixtures: the real URLconf and middleware over a preloaded cluster with an administrator, a
workspace with members, and a user who manages platform roles without being a platform
administrator.
"""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    LOGIN_RECORDS,
    NAMESPACES,
    NODES,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACES,
)
from console.kube.identity import Identity
from console.kube.informer import Informer
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.accounts.conftest import HASH, Browser, _site, browser, clock
from tests.rbac.fakes import FakeConsole
from tests.rbac.objects import (
    Manifest,
    admin_role,
    admins,
    binding,
    global_role,
    native_binding,
    native_role,
    project,
    rule,
    user,
    workspace,
    workspace_binding,
    workspace_role,
)
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime

__all__ = ["Browser", "_site", "browser", "clock"]

IAM = "iam.kubesphere.io"
READ = "get list watch"


class AsUser:
    """Console client of a user that records each write, to tell user writes from the console's own
    writes.
    """

    def __init__(self, console: FakeConsole, who: str, notes: list[tuple[str, str]]) -> None:
        self._console, self._who, self._notes = console, who, notes

    def __getattr__(self, name: str) -> Any:
        self._notes.append((self._who, name))
        return getattr(self._console, name)


def settings() -> Manifest:
    about = {"name": "settings", "namespace": "web", "uid": "u-settings", "resourceVersion": "1"}
    return {"metadata": about, "data": {"colour": "blue"}}


def objects() -> dict[GVR, list[Manifest]]:
    keeper = rule("*", "globalroles globalrolebindings users", IAM)
    return {
        USERS: [user(n, password=HASH) for n in ("admin", "alice", "bob", "charlie", "carol")],
        GLOBAL_ROLES: [
            global_role("platform-admin", rule("*", "*", "*")),
            global_role("platform-regular"),
            global_role("keeper", keeper, rule(READ, "nodes")),
        ],
        GLOBAL_ROLE_BINDINGS: [
            binding("admins", ("User", "admin")),
            binding("carol-keeper", ("User", "carol"), role="keeper"),
        ],
        WORKSPACES: [workspace("shop"), workspace("other")],
        WORKSPACE_ROLES: [
            workspace_role("shop-admin", "shop", rule("*", "*", "*")),
            workspace_role("shop-viewer", "shop", rule(READ, "*", "*")),
            workspace_role("other-admin", "other", rule("*", "*", "*")),
            workspace_role(
                "shop-inviter",
                "shop",
                rule(READ, "*", "*"),
                rule("*", "workspaceroles workspacerolebindings", IAM),
            ),
        ],
        WORKSPACE_ROLE_BINDINGS: [
            workspace_binding("alice-shop-admin", "shop", "shop-admin", "User alice"),
            workspace_binding("bob-shop-viewer", "shop", "shop-viewer", "User bob"),
        ],
        CLUSTER_ROLES: [
            admin_role(),
            native_role("reader", rule(READ, "pods")),
            native_role("system:node", rule(READ, "nodes")),
            # Native roles that the controllers derive from the workspace roles.
            native_role("quarterdeck:workspacerole:shop-admin", rule("*", "*", "*")),
            native_role("quarterdeck:workspacerole:shop-viewer", rule(READ, "*", "*")),
            # The projection contains no permission to grant roles: Kubernetes can't decide that per
            # workspace.
            native_role(
                "quarterdeck:globalrole:keeper",
                rule(READ, "globalroles globalrolebindings users", IAM),
                rule(READ, "nodes"),
            ),
        ],
        CLUSTER_ROLE_BINDINGS: [
            *admins("admin"),
            native_binding(
                "quarterdeck:globalrolebinding:carol-keeper",
                "quarterdeck:globalrole:keeper",
                "User carol",
            ),
        ],
        ROLES: [native_role("operator", rule("*", "pods"), namespace="web")],
        ROLE_BINDINGS: [
            native_binding(
                f"quarterdeck:workspacerole:shop-{role}",
                f"quarterdeck:workspacerole:shop-{role}",
                f"User {who}",
                namespace="web",
            )
            for role, who in (("admin", "alice"), ("viewer", "bob"))
        ],
        NAMESPACES: [project("web", "shop"), project("kube-system")],
        GROUPS: [],
        GROUP_BINDINGS: [],
        LOGIN_RECORDS: [],
        CONFIG_MAPS: [settings()],
        PODS: [],
        NODES: [],
    }


@pytest.fixture(autouse=True)
def runtime() -> Iterator[StaticRuntime]:
    informers: dict[GVR, Informer[Any]] = {
        gvr: preloaded(gvr, items) for gvr, items in objects().items()
    }
    notes: list[tuple[str, str]] = []

    def as_user(identity: Identity) -> Any:
        return AsUser(found.console, identity.name, notes)

    found = StaticRuntime(informers, user_client=lambda identity: cast(Any, as_user(identity)))
    found.console = FakeConsole(informers)
    found.notes = notes  # type: ignore[attr-defined]
    set_host_cluster(found)
    yield found
    unset_host_cluster()
