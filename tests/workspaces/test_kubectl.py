"""kubectl with a user's kubeconfig has the same permissions as the user has in the console.

The kubeconfigs are created as for a download, with certificates signed by the cluster. The test
covers every type that the server has, including types added later.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from accounts.kubeconfigs.csr import CSRReconciler
from accounts.kubeconfigs.kubeconfig import KubeconfigReconciler
from accounts.myaccount.kubeconfig import kubeconfig_text, request_kubeconfig
from accounts.time import now
from accounts.users.groupbindings import GroupBindingReconciler
from accounts.users.groups import GroupReconciler
from accounts.users.reconciler import UserReconciler
from console.kube import controller
from console.kube.gvr import (
    GROUPS,
    GVR,
    NAMESPACES,
    PODS,
    SERVICE_ACCOUNTS,
    USERS,
    WORKSPACES,
    Key,
)
from console.kube.identity import Identity
from rbac.memberships import identity_of
from rbac.process_clusters import get_authorizer
from rbac.rules import AccessQuestion, normalize_question
from tests.accounts.conftest import PASSWORD
from tests.contract.client import Client, Credentials, Transport, tls_context
from tests.rbac.objects import user
from tests.support.depth import DEEP, number, some
from tests.workspaces.conftest import Tenancy
from tests.workspaces.users import Person, apply, is_gone, pod, read, template, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("site")]

MANAGER, VIEWER, OPERATOR, DEPARTED, STRANGER = "mona", "vera", "otto", "dora", "stan"
PEOPLE = (MANAGER, VIEWER, OPERATOR, DEPARTED, STRANGER)
HERE, BESIDE, RIVAL = "kub-shop", "kub-web", "rival-shop"
PLACES = (HERE, BESIDE, RIVAL, "kube-system", "")
VERBS = (
    *("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"),
    *("impersonate", "bind", "escalate", "approve"),
)
#: Only every n-th question is asked. The number is coprime to the numbers of verbs, namespaces and
#: names.
_EVERY = number(83, 17)
#: Users tested by the gate: the user with the most permissions in the workspace, and the user with
#: the most elsewhere.
_TRY = [one for one in PEOPLE if DEEP or one in (MANAGER, STRANGER)]
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class Kubeconfig:
    """A user's kubeconfig. `may` is the question of `kubectl auth can-i`."""

    def __init__(self, tenancy: Tenancy, path: Path) -> None:
        self._cluster, self._path = tenancy.cluster, path
        who = Credentials.from_kubeconfig(path)
        self._connection = Transport(tenancy.cluster.url, tls_context(tenancy.cluster.ca_file, who))
        self._client = Client(self._connection, who.token)

    def run(self, *arguments: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        return self._cluster.kubectl(*arguments, input=stdin, kubeconfig=self._path)

    def may(self, asked: AccessQuestion) -> bool:
        spec = {"resourceAttributes": normalize_question(asked)._asdict()}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": spec,
        }
        return bool(self._client.post(REVIEWS, body).ok()["status"]["allowed"])

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="module")
def accounts(tenancy: Tenancy) -> None:
    """Run the account controllers next to the workspace controllers."""
    runtime = tenancy.runtime
    for factory in (
        UserReconciler,
        GroupReconciler,
        GroupBindingReconciler,
        KubeconfigReconciler,
        CSRReconciler,
    ):
        runtime.spawn(controller.run(runtime, factory(runtime)))


@pytest.fixture(scope="module")
def made() -> Iterator[dict[str, Kubeconfig]]:
    found: dict[str, Kubeconfig] = {}
    yield found
    for one in found.values():
        one.close()


@pytest.fixture
async def kubeconfigs(
    tenancy: Tenancy,
    accounts: None,
    made: dict[str, Kubeconfig],
    tmp_path_factory: pytest.TempPathFactory,
) -> Mapping[str, Kubeconfig]:
    """Kubeconfigs by user, in a cluster where each user has different permissions. Created by the
    first test that needs them.
    """
    if not made:
        await _make_world(tenancy)
        folder = tmp_path_factory.mktemp("kubeconfigs")
        for who in PEOPLE:
            made[who] = await _download(tenancy, who, folder)
    return made


async def _download(tenancy: Tenancy, who: str, folder: Path) -> Kubeconfig:
    entry = await until(lambda: tenancy.runtime.informer(USERS).store.get(Key("", who)), who)
    kept = await request_kubeconfig(tenancy.runtime, entry, now())
    assert kept is not None, f"no certificate for {who}"
    path = folder / f"{who}.yaml"
    path.write_text(kubeconfig_text(tenancy.runtime.endpoint(), kept))
    return Kubeconfig(tenancy, path)


async def _make_world(tenancy: Tenancy) -> None:
    apply(tenancy, *map(_account, PEOPLE), template("kub", MANAGER), template("rival", STRANGER))
    manager, rival = Person(tenancy, MANAGER), Person(tenancy, STRANGER)
    access = get_authorizer()
    for who, workspace in ((MANAGER, "kub"), (STRANGER, "rival")):
        sees = access.access_for(Identity(who))
        await until(partial(sees.can, "get", WORKSPACES, name=workspace), who)
    for owner, workspace, name in (
        (manager, "kub", HERE),
        (manager, "kub", BESIDE),
        (rival, "rival", RIVAL),
    ):
        answer = await owner.post(f"/workspaces/{workspace}/projects/-/new", name=name)
        assert answer.status_code == 302, answer.content.decode()
    for who, role in ((VIEWER, "viewer"), (OPERATOR, "regular"), (DEPARTED, "regular")):
        answer = await manager.post("/workspaces/kub/members/invite", user=who, role=f"kub-{role}")
        assert answer.status_code == 302, answer.content.decode()
    await until(lambda: manager.may("create", HERE), "rights of the manager")
    answer = await manager.post(
        f"/workspaces/kub/projects/{HERE}/member", user=OPERATOR, role="operator"
    )
    assert answer.status_code == 302, answer.content.decode()
    await _department(tenancy, manager)


def _account(name: str) -> dict[str, Any]:
    """Return a user with a password. Users without a password are disabled."""
    made = user(name)
    made["spec"]["password"] = PASSWORD
    return made


async def _department(tenancy: Tenancy, manager: Person) -> None:
    """Create a department whose members may view everything in the workspace."""
    answer = await manager.post("/workspaces/kub/departments?new", title="Audit")
    assert answer.status_code == 302, answer.content.decode()
    store = tenancy.runtime.informer(GROUPS).store

    def found() -> Key | None:
        there = store.snapshot().entries.items()
        return next((key for key, one in there if one.projection.workspace == "kub"), None)

    group = await until(found, "the department")
    url = f"/workspaces/kub/departments/{group.name}"
    answer = await manager.post(url, role="kub-viewer", add=DEPARTED)
    assert answer.status_code == 302, answer.content.decode()
    await until(lambda: identity_of(tenancy.runtime, DEPARTED).groups, "the membership")


def everything(tenancy: Tenancy) -> Iterator[tuple[str, str, str]]:
    """Yield (group, resource, subresource) of everything that the server serves."""
    groups = tenancy.cluster.api.get("/apis").json()["groups"]
    paths = ["/api/v1", *(f"/apis/{one['preferredVersion']['groupVersion']}" for one in groups)]
    for path in paths:
        group = path.split("/")[2] if path.startswith("/apis/") else ""
        for item in tenancy.cluster.api.get(path).json()["resources"]:
            resource, _, subresource = item["name"].partition("/")
            yield group, resource, subresource
    # Types that only occur in rules.
    yield "iam.kubesphere.io", "workspacemembers", ""


async def test_kubectl_has_the_same_permissions_as_the_console(
    tenancy: Tenancy, kubeconfigs: Mapping[str, Kubeconfig]
) -> None:
    types = sorted(set(everything(tenancy)))
    assert len(types) > 100
    questions = [
        AccessQuestion(verb, group, resource, subresource, place, name)
        for (group, resource, subresource), verb, place, name in product(
            types, VERBS, PLACES, ("", "kub")
        )
    ]
    counted = dict.fromkeys(PEOPLE, 0)
    # Each user is asked a different subset, which contains every type, verb and namespace.
    for offset, who in enumerate(PEOPLE):
        for asked in questions[offset::_EVERY]:
            there = kubeconfigs[who].may(asked)
            assert here(tenancy, who, asked) is there, (who, asked)
            counted[who] += there
    # Sanity check of the number of allowed requests: manager > operator > viewer > stranger.
    assert counted[MANAGER] > counted[OPERATOR] > 0
    assert counted[MANAGER] > counted[VIEWER] > 0
    assert counted[DEPARTED] > 0


def here(tenancy: Tenancy, who: str, asked: AccessQuestion) -> bool:
    """Return the console's decision."""
    access = get_authorizer().access_for(identity_of(tenancy.runtime, who))
    return access.can(
        asked.verb,
        GVR(asked.group, "v1", asked.resource),
        namespace=asked.namespace,
        name=asked.name,
        subresource=asked.subresource,
    )


async def test_kubectl_commands_succeed_exactly_if_permitted(
    tenancy: Tenancy, kubeconfigs: Mapping[str, Kubeconfig]
) -> None:
    for who in PEOPLE:
        info = json.loads(kubeconfigs[who].run("auth", "whoami", "-o", "json").stdout)
        assert info["status"]["userInfo"]["username"] == who
    for place in (HERE, BESIDE, RIVAL):
        account = partial(read, tenancy, SERVICE_ACCOUNTS, "default", place)
        await until(account, f"the account in {place}")
    # The gate tests some pairs, including users with all, some and no permissions.
    for who, place in some("places", product(PEOPLE, (HERE, BESIDE, RIVAL)), 8):
        kubectl, access = (
            kubeconfigs[who],
            get_authorizer().access_for(identity_of(tenancy.runtime, who)),
        )
        name = f"of-{who}"
        tried = (
            ("list", ("get", "pods", "-n", place)),
            ("create", ("create", "-n", place, "-f", "-")),
            ("delete", ("delete", "pod", name, "-n", place, "--wait=false", "--ignore-not-found")),
        )
        for verb, arguments in tried:
            stdin = pod(name) if verb == "create" else None
            done = kubectl.run(*arguments, stdin=stdin)
            allowed = access.can(verb, PODS, namespace=place)
            said = (who, place, verb, done.stderr)
            assert (done.returncode == 0) is allowed, said
            assert allowed or "orbidden" in done.stderr, said
        sees = access.can("get", NAMESPACES, name=place)
        assert (kubectl.run("get", "namespace", place).returncode == 0) is sees, (who, place)


async def test_kubectl_cannot_perform_actions_that_only_the_console_performs(
    tenancy: Tenancy, kubeconfigs: Mapping[str, Kubeconfig]
) -> None:
    """Creating projects, inviting members and changing roles and settings: the console checks the
    user first.
    """
    uid = read(tenancy, WORKSPACES, "kub")["metadata"]["uid"]
    mine: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": "kub-own",
            "labels": {"kubesphere.io/workspace": "kub"},
            "ownerReferences": [
                {
                    "apiVersion": "tenant.kubesphere.io/v1alpha1",
                    "kind": "Workspace",
                    "name": "kub",
                    "uid": uid,
                    "controller": True,
                }
            ],
        },
    }
    invited: dict[str, Any] = {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "WorkspaceRoleBinding",
        "metadata": {"name": "kub.eve", "labels": {"kubesphere.io/workspace": "kub"}},
        "roleRef": {
            "apiGroup": "iam.kubesphere.io",
            "kind": "WorkspaceRole",
            "name": "kub-admin",
        },
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eve"}],
    }
    grown = '{"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}'
    more = '{"spec":{"quota":{"hard":{"pods":"1000"}}}}'
    for who in _TRY:
        kubectl = kubeconfigs[who]
        for body in (mine, invited):
            done = kubectl.run("create", "-f", "-", stdin=json.dumps(body))
            assert done.returncode != 0 and "orbidden" in done.stderr, (who, body["kind"])
        for arguments in (
            ("patch", "workspaceroles.iam.kubesphere.io", "kub-viewer", "-p", grown),
            ("patch", "workspacetemplates.tenant.kubesphere.io", "kub", "-p", more),
            ("patch", "resourcequotas.quota.kubesphere.io", "kub", "-p", more),
            ("patch", "clusterrole", "quarterdeck:workspacerole:kub-viewer", "-p", grown),
        ):
            done = kubectl.run(*arguments, "--type=merge")
            assert done.returncode != 0 and "orbidden" in done.stderr, (who, arguments)
        for kind, name in (
            ("workspacetemplates.tenant.kubesphere.io", "kub"),
            ("workspaces.tenant.kubesphere.io", "kub"),
            ("users.iam.kubesphere.io", MANAGER),
        ):
            assert kubectl.run("delete", kind, name, "--wait=false").returncode != 0, (who, kind)
    assert is_gone(tenancy, NAMESPACES, "kub-own")
    # A project role grants no more than its granter holds, and nothing outside the project.
    grab = ("create", "clusterrolebinding", "grab", "--clusterrole=cluster-admin", "--user=otto")
    local = ("-n", HERE, "create", "rolebinding", "grab", "--role=admin", "--user=otto")
    for who in some("grab", (VIEWER, OPERATOR, DEPARTED), 1):
        assert kubeconfigs[who].run(*grab).returncode != 0, who
        assert kubeconfigs[who].run(*local).returncode != 0, who
    assert kubeconfigs[MANAGER].run(*grab).returncode != 0
    assert kubeconfigs[MANAGER].run(*local).returncode == 0
