"""A real control plane with the role controllers, to compare kube-apiserver's decisions with the
console's.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from console.kube import controller
from console.kube.clients import ConsoleClient
from console.kube.credentials import Credentials
from console.kube.gvr import (
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    NAMESPACES,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
)
from console.kube.gvr import WORKSPACES as WORKSPACE_TYPE
from console.kube.identity import Identity
from console.kube.kubeconfig import write_console_kubeconfig
from console.kube.runtime import Runtime
from console.kube.transport import Transport
from console.management.commands.install import install_into
from rbac.authorizer import SOURCES, Authorizer
from rbac.controllers import FACTORIES
from rbac.grant_index import GrantIndex
from rbac.rules import AccessQuestion, normalize_question
from tests.contract.client import Client, tls_context
from tests.contract.client import Credentials as Who
from tests.contract.client import Transport as Connection
from tests.contract.grants import review
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import eventually
from tests.rbac.objects import (
    Manifest,
    binding,
    global_role,
    project,
    rule,
    user,
    workspace,
    workspace_binding,
    workspace_role,
)
from tests.rbac.random_questions import PEOPLE, PROJECTS, WORKSPACES

_PASSWORD = "P@88w0rd"
#: Plural of each kind that `World.create` supports.
PLURALS = {
    "Role": "roles",
    "ClusterRole": "clusterroles",
    "RoleBinding": "rolebindings",
    "ClusterRoleBinding": "clusterrolebindings",
    "GlobalRole": GLOBAL_ROLES.resource,
    "GlobalRoleBinding": GLOBAL_ROLE_BINDINGS.resource,
    "WorkspaceRole": WORKSPACE_ROLES.resource,
    "WorkspaceRoleBinding": WORKSPACE_ROLE_BINDINGS.resource,
    "User": USERS.resource,
    "Workspace": WORKSPACE_TYPE.resource,
    "Namespace": NAMESPACES.resource,
    "Group": GROUPS.resource,
    "GroupBinding": GROUP_BINDINGS.resource,
}


#: (user, groups, question)
Asked = Sequence[tuple[str, tuple[str, ...], AccessQuestion]]


class World:
    """A control plane with the console's controllers, and an authorizer that watches it."""

    def __init__(self, admin: Client, runtime: Runtime) -> None:
        self.admin, self.runtime = admin, runtime
        self.authorizer = Authorizer(runtime)
        stores = (runtime.informer(gvr).store for gvr in SOURCES[1:])
        self._index = GrantIndex(*stores)
        self._signs = 0

    def create(self, item: Manifest) -> Manifest:
        meta = {k: v for k, v in item["metadata"].items() if k not in ("uid", "resourceVersion")}
        path = self._gvr(item).path(meta.get("namespace", ""))
        made: Manifest = self.admin.post(path, {**item, "metadata": meta}).ok()
        return made

    def delete(self, item: Manifest) -> None:
        meta = item["metadata"]
        path = self._gvr(item).path(meta.get("namespace", ""), meta["name"])
        assert self.admin.delete(path).status == 200

    @staticmethod
    def _gvr(item: Manifest) -> GVR:
        group, _, version = item["apiVersion"].rpartition("/")
        return GVR(group, version, PLURALS[item["kind"]])

    def settle(self) -> None:
        """Wait until the latest roles of each level have arrived in both authorizers."""
        self._signs += 1
        name, resource = f"sign-{self._signs}", f"signs{self._signs}"
        sign = rule("get", resource, "example.com")
        self.create(global_role(name, sign))
        self.create(binding(name, ("User", "dan"), role=name))
        for home in WORKSPACES:
            self.create(workspace_role(f"{home}-{name}", home, sign))
            self.create(workspace_binding(f"{home}-{name}", home, f"{home}-{name}", "User cyd"))
        signs = [("dan", AccessQuestion("get", "example.com", resource))]
        signs += [
            ("cyd", AccessQuestion("get", "example.com", resource, namespace=place))
            for place, home in PROJECTS.items()
            if home
        ]
        for who, asked in signs:
            eventually(partial(self._arrived, who, asked), f"{who} may {asked}")

    def _arrived(self, who: str, asked: AccessQuestion) -> bool:
        return self.here(who, (), asked) and self.there(who, (), asked)

    def here(self, who: str, groups: tuple[str, ...], asked: AccessQuestion) -> bool:
        if who.startswith("system:"):
            found = self._index.rights_of((who, (*groups, "system:authenticated")))
            return found.allows(normalize_question(asked))
        gvr = GVR(asked.group, "v1", asked.resource)
        return self.authorizer.access_for(Identity(who, groups)).can(
            asked.verb,
            gvr,
            namespace=asked.namespace,
            name=asked.name,
            subresource=asked.subresource,
        )

    def there(self, who: str, groups: tuple[str, ...], asked: AccessQuestion) -> bool:
        attributes = normalize_question(asked)._asdict()
        return review(self.admin, who, (*groups, "system:authenticated"), **attributes)

    def agree(self, who: str, groups: tuple[str, ...], asked: AccessQuestion) -> bool:
        return self.here(who, groups, asked) is self.there(who, groups, asked)

    def agree_on(self, asked: Asked) -> None:
        """Wait until both authorizers agree on all questions."""
        left = list(asked)

        def none_left() -> bool:
            left[:] = [one for one in left if not self.agree(*one)]
            return not left

        try:
            eventually(none_left, "the same answers", timeout=15)
        except TimeoutError:
            raise AssertionError([(one, self.here(*one)) for one in left]) from None


@pytest.fixture(scope="package")
def world(
    control_plane_programs: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    with ControlPlane() as cluster, ExitStack() as stack:
        kubeconfig = tmp_path_factory.mktemp("console") / "kubeconfig"
        write_console_kubeconfig(
            kubeconfig, cluster.url, Path(cluster.ca_file), asyncio.run(_install(cluster))
        )
        runtime = Runtime(kubeconfig=str(kubeconfig))
        runtime.start()
        stack.callback(runtime.stop)
        runtime.require(SOURCES)
        for factory in FACTORIES:
            runtime.spawn(controller.run(runtime, factory(runtime)))
        who = Who.from_kubeconfig(cluster.kubeconfig)
        connection = Connection(cluster.url, tls_context(cluster.ca_file, who))
        stack.callback(connection.close)
        found = World(Client(connection, who.token), runtime)
        _people_and_places(found)
        yield found


async def _install(cluster: ControlPlane) -> dict[str, str]:
    transport = Transport(Credentials("admin", str(cluster.kubeconfig)))
    client = ConsoleClient(transport)
    tokens = await install_into(client, admin_password=_PASSWORD)
    await transport.close()
    return tokens


def _people_and_places(world: World) -> None:
    for name in PEOPLE:
        world.create(user(name))
    uids = {name: world.create(workspace(name))["metadata"]["uid"] for name in WORKSPACES}
    for name, home in PROJECTS.items():
        world.create(project(name, home, uid=uids.get(home, "")))
    world.create(project("forged", "acme", uid="x"))
