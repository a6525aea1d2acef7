"""A server that answers SubjectAccessReviews, and a runtime that uses it."""

from collections.abc import Callable
from typing import Any, cast

from console.kube.clients import UserClient
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    NAMESPACES,
    ROLE_BINDINGS,
    ROLES,
    USERS,
)
from console.kube.identity import Identity
from rbac import decision_comparison
from tests.rbac.objects import admin_role, admins, project, user
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime


class Server:
    """Answers SubjectAccessReviews with a function of the username."""

    def __init__(self, allows: Callable[[str], bool]) -> None:
        self.allows = allows

    def client(self, identity: Identity) -> UserClient:
        allows = self.allows

        class Reviewing:
            async def create(
                self, gvr: Any, body: dict[str, Any], *, stored: bool
            ) -> dict[str, Any]:
                assert (gvr, stored) == (decision_comparison.REVIEWS, False)
                attributes = body["spec"]["resourceAttributes"]
                assert attributes["verb"] and attributes["resource"]
                return {"status": {"allowed": allows(identity.name)}}

        return cast(UserClient, Reviewing())


def runtime(allows: Callable[[str], bool]) -> StaticRuntime:
    informers = {
        USERS: [user("admin"), user("bob"), user("locked", state="Disabled"), user("system:x")],
        ROLES: [],
        CLUSTER_ROLES: [admin_role()],
        ROLE_BINDINGS: [],
        CLUSTER_ROLE_BINDINGS: admins("admin"),
        NAMESPACES: [project("shop")],
    }
    made = {gvr: preloaded(gvr, items) for gvr, items in informers.items()}
    return StaticRuntime(made, user_client=Server(allows).client)
