"""The console and kube-apiserver give the same answer, whatever the roles are.

Random worlds on a real control plane, with roles of all levels, which the controllers project as the
console's own identity.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from accounts.bootstrap import bootstrap
from console.kube import controller
from console.kube.client import ConsoleClient, Transport
from console.kube.credentials import Credentials
from console.kube.gvr import (
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GVR,
    NAMESPACES,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    Key,
)
from console.kube.gvr import WORKSPACES as WORKSPACE_TYPE
from console.kube.identity import Identity
from console.kube.kubeconfig import write_console_kubeconfig
from console.kube.runtime import Runtime
from console.management.commands._installing import install_into
from rbac.authorizer import SOURCES, Authorizer
from rbac.comparing import VERBS, compare, questions
from rbac.controllers import FACTORIES
from rbac.index import Index
from rbac.rules import Question, as_requested, parse_rules
from tests.accounts.kubesphere import objects as kubesphere
from tests.contract.client import Client, tls_context
from tests.contract.client import Credentials as Who
from tests.contract.client import Transport as Connection
from tests.contract.grants import review
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.waiting import eventually
from tests.depth import DEEP, SEED, number
from tests.rbac.chance import PEOPLE, PROJECTS, WORKSPACES, Chance
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

QUESTIONS = 20_000 if DEEP else 400
#: Sets of roles, each of which is asked so many questions.
SETS = number(1, 5)
_PASSWORD = "P@88w0rd"
#: What the doctor asks about.
_TYPES = (GLOBAL_ROLES, USERS, GVR("", "v1", "pods"), GVR("apps", "v1", "deployments"))
_PLURALS = {
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
}


#: Of which there is one of the name already.
_BOOTSTRAPPED = frozenset(
    {"admin", "admin-platform-admin", "platform-admin", "platform-regular"}
    | {"platform-self-provisioner", "cluster-viewer"}
)
_OF_KUBESPHERE = (
    *(("", "pods"), ("", "secrets"), ("", "configmaps"), ("", "nodes"), ("", "namespaces")),
    *(("apps", "deployments"), ("batch", "jobs"), ("iam.kubesphere.io", "users")),
    *(("iam.kubesphere.io", "globalroles"), ("iam.kubesphere.io", "workspacemembers")),
    *(("tenant.kubesphere.io", "workspaces"), ("rbac.authorization.k8s.io", "rolebindings")),
)


#: (user, groups, question)
Asked = Sequence[tuple[str, tuple[str, ...], Question]]


class World:
    """A control plane with controllers of ours, and an authorizer that follows it."""

    def __init__(self, admin: Client, runtime: Runtime) -> None:
        self.admin, self.runtime = admin, runtime
        self.authorizer = Authorizer(runtime)
        stores = (runtime.informer(gvr).store for gvr in SOURCES[1:])
        self._index = Index(*stores)
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
        return GVR(group, version, _PLURALS[item["kind"]])

    def settle(self) -> None:
        """Returns when what was given last, at each level, has arrived on both sides."""
        self._signs += 1
        name, resource = f"sign-{self._signs}", f"signs{self._signs}"
        sign = rule("get", resource, "example.com")
        self.create(global_role(name, sign))
        self.create(binding(name, ("User", "dan"), role=name))
        for home in WORKSPACES:
            self.create(workspace_role(f"{home}-{name}", home, sign))
            self.create(workspace_binding(f"{home}-{name}", home, f"{home}-{name}", "User cyd"))
        signs = [("dan", Question("get", "example.com", resource))]
        signs += [
            ("cyd", Question("get", "example.com", resource, namespace=place))
            for place, home in PROJECTS.items()
            if home
        ]
        for who, asked in signs:
            eventually(partial(self._arrived, who, asked), f"{who} may {asked}")

    def _arrived(self, who: str, asked: Question) -> bool:
        return self.here(who, (), asked) and self.there(who, (), asked)

    def here(self, who: str, groups: tuple[str, ...], asked: Question) -> bool:
        if who.startswith("system:"):
            found = self._index.rights_of((who, (*groups, "system:authenticated")))
            return found.allows(as_requested(asked))
        gvr = GVR(asked.group, "v1", asked.resource)
        return self.authorizer.access_for(Identity(who, groups)).can(
            asked.verb,
            gvr,
            namespace=asked.namespace,
            name=asked.name,
            subresource=asked.subresource,
        )

    def there(self, who: str, groups: tuple[str, ...], asked: Question) -> bool:
        attributes = as_requested(asked)._asdict()
        return review(self.admin, who, (*groups, "system:authenticated"), **attributes)

    def agree(self, who: str, groups: tuple[str, ...], asked: Question) -> bool:
        return self.here(who, groups, asked) is self.there(who, groups, asked)

    def agree_on(self, asked: Asked) -> None:
        """As soon as everything has arrived; nothing else may be left to differ."""
        left = list(asked)

        def none_left() -> bool:
            left[:] = [one for one in left if not self.agree(*one)]
            return not left

        try:
            eventually(none_left, "the same answers", timeout=15)
        except TimeoutError:
            raise AssertionError([(one, self.here(*one)) for one in left]) from None


@pytest.fixture(scope="module")
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
    await bootstrap(client, admin_password=_PASSWORD)
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


def who_asks(chance: Chance) -> tuple[str, tuple[str, ...]]:
    if chance.likely(0.15):
        home = chance.one(PROJECTS)
        name = chance.one(("one", "two"))
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{home}")
        return f"system:serviceaccount:{home}:{name}", groups
    return chance.one(PEOPLE), chance.groups()


@pytest.mark.parametrize("turn", range(SETS))
def it_agrees_with_kube_apiserver(world: World, turn: int) -> None:
    chance = Chance(SEED + 1_000 * turn)
    made: list[list[Manifest]] = []
    for make in (chance.native, chance.of_platform, chance.of_workspace):
        for _ in range(10):
            made.append([world.create(item) for item in make()])
    world.settle()
    asked = [(*who_asks(chance), chance.question()) for _ in range(QUESTIONS)]
    world.agree_on(asked)
    # Else nothing was tried.
    assert {world.here(*one) for one in asked} == {True, False}
    for _ in range(QUESTIONS // 10):
        (who, groups), path = who_asks(chance), chance.path()
        if not who.startswith("system:"):
            here = world.authorizer.allows_path(Identity(who, groups), "get", path)
            asked_for = (*groups, "system:authenticated")
            assert here is review(world.admin, who, asked_for, verb="get", path=path), (who, path)
    _follows_changes(world, chance, made)
    for pair in made:
        for item in pair:
            world.delete(item)


def _follows_changes(world: World, chance: Chance, made: list[list[Manifest]]) -> None:
    """After each change of a grant, for whomever it is about."""
    for turn in range(12):
        pair = chance.one(made)
        if turn % 2:
            made.remove(pair)
            world.delete(pair[1 if chance.likely(0.7) else 0])
        else:
            make = chance.one((chance.native, chance.of_platform, chance.of_workspace))
            made.append([world.create(item) for item in make()])
        asked = [(*who_asks(chance), chance.question()) for _ in range(15)]
        world.agree_on(asked)


def it_gives_what_a_workspace_role_says_and_only_in_its_projects(world: World) -> None:
    """The rules of the role itself are what must come out of the projection."""
    chance = Chance(SEED + 1)
    rules = [chance.rule() for _ in range(3)]
    world.create(user("eve"))
    world.create(workspace_role("acme-eve", "acme", *rules))
    world.create(workspace_binding("acme-eve", "acme", "acme-eve", "User eve"))
    world.settle()
    eventually(lambda: world.runtime.informer(USERS).store.get(Key("", "eve")), "the user")
    asked = [as_requested(chance.question()) for _ in range(150)]
    given = [
        one
        for one in asked
        if PROJECTS.get(one.namespace) == "acme"
        and any(found.allows(one) for found in parse_rules(rules))
    ]
    assert given
    # Objects of different projects are written in no order: what came last says nothing of these.
    eventually(lambda: all(world.here("eve", (), one) for one in given), "what the role says")
    world.agree_on([("eve", (), one) for one in asked])


def it_gives_nothing_in_a_project_that_only_says_it_is_of_the_workspace(world: World) -> None:
    world.create(user("fay"))
    world.create(workspace_role("acme-fay", "acme", rule("*", "*", "*")))
    world.create(workspace_binding("acme-fay", "acme", "acme-fay", "User fay"))
    world.settle()
    asked = Question("list", "", "pods", namespace="acme-one")
    eventually(lambda: world.here("fay", (), asked) and world.there("fay", (), asked), "in acme")
    for place in ("forged", "nobodys", "other-one", "kube-system", ""):
        refused = asked._replace(namespace=place)
        assert not world.here("fay", (), refused), place
        assert not world.there("fay", (), refused), place


def it_agrees_about_the_roles_of_a_kubesphere_installation(world: World) -> None:
    """Those of all levels, as KubeSphere 3.4 makes them, with what only its own server reads in them."""
    for item in kubesphere.everything():
        known = item["kind"] in _PLURALS and item["metadata"]["name"] not in _BOOTSTRAPPED
        made = world.create(item) if known else {}
        if item["kind"] == "Workspace":
            for part in kubesphere.projects(made["metadata"]["name"], made["metadata"]["uid"]):
                world.create(part)
    world.settle()
    people = {"admin": (), "jane": (kubesphere.TEAM,), "pat": (), "new": (), "lee": ()}
    asked = [
        (who, groups, Question(verb, group, resource, namespace=place))
        for who, groups in people.items()
        for verb in ("get", "list", "create", "update", "delete", "impersonate")
        for group, resource in _OF_KUBESPHERE
        for place in ("", "shop", "kube-system")
    ]
    chance = Chance(SEED + 2)
    for _ in range(max(0, QUESTIONS - len(asked))):
        who, (group, resource) = chance.one(people), chance.one(_OF_KUBESPHERE)
        verb, place = chance.one(VERBS), chance.one(("", "shop", "kube-system", *PROJECTS))
        name = chance.one(("", "shop", "demo", "demo-admin", "platform-admin", who))
        question = Question(verb, group, resource, namespace=place, name=name)
        asked.append((who, people[who], question))
    world.agree_on(asked)
    may = {one for one in asked if world.here(*one)}
    viewer = ("jane", people["jane"], Question("list", "", "pods", namespace="shop"))
    assert viewer in may
    assert ("pat", (), Question("create", "", "pods", namespace="shop")) in may
    assert ("pat", (), Question("list", "iam.kubesphere.io", "users")) in may
    # What gives rights is a platform administrator's alone to write (ADR 8).
    assert ("pat", (), Question("update", "iam.kubesphere.io", "users")) not in may
    native = ("", "apps", "batch", "rbac.authorization.k8s.io")
    requests = {(who, as_requested(asked)) for who, _, asked in may}
    elsewhere = {one for one in requests if one[1].namespace == "kube-system"}
    assert {who for who, asked in elsewhere if asked.group in native} == {"admin"}


def it_gives_the_doctor_nothing_to_find(world: World) -> None:
    eventually(lambda: world.runtime.informer(NAMESPACES).freshness.synced, "the projects")
    asked = questions(world.runtime, (*_TYPES, NAMESPACES), 100, SEED)
    assert len(asked) == 100
    assert world.runtime.spawn(compare(world.runtime, asked)).result(60) == []
