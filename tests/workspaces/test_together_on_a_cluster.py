"""Concurrent actions of several users in a workspace, on a real control plane."""

import asyncio
import re
from uuid import uuid4

import pytest
import yaml

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    NAMESPACES,
    ROLE_BINDINGS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
    Key,
)
from console.kube.identity import Identity
from rbac.process_clusters import get_authorizer
from tests.rbac.objects import user
from tests.support.depth import number
from tests.workspaces.conftest import Tenancy
from tests.workspaces.users import (
    Person,
    apply,
    bound_to,
    delete,
    listed,
    read,
    template,
    until,
)

#: Projects created while their workspace is deleted.
MADE = number(12, 24)
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("site")]


async def test_concurrent_changes_of_members(tenancy: Tenancy) -> None:
    home = f"duo-{uuid4().hex[:6]}"
    apply(tenancy, *map(user, ("ann", "ben", "cleo")), template(home, "ann"))
    ann, ben = Person(tenancy, "ann"), Person(tenancy, "ben")
    access = get_authorizer().access_for(Identity("ann"))
    await until(lambda: access.can("get", WORKSPACES, name=home), "sight of the workspace")

    # One of ten concurrent invitations succeeds. The others are refused, and one role is bound.
    roles = (f"{home}-viewer", f"{home}-regular")
    answers = await asyncio.gather(
        *(
            ann.post(f"/workspaces/{home}/members/invite", user="ben", role=roles[at % 2])
            for at in range(10)
        )
    )
    codes = sorted(answer.status_code for answer in answers)
    assert codes[0] == 302
    assert all(code in (400, 409) for code in codes[1:])
    assert len(bound_to(tenancy, home, "ben")) == 1

    # One of ten concurrent role changes succeeds. The other forms keep their selection.
    page = await ann.get(f"/workspaces/{home}/members/ben/role")
    version = re.search(r'name="version" value="([^"]+)"', page.content.decode())
    assert version
    answers = await asyncio.gather(
        *(
            ann.post(
                f"/workspaces/{home}/members/ben/role", role=f"{home}-admin", version=version[1]
            )
            for _at in range(10)
        )
    )
    assert sorted(answer.status_code for answer in answers) == [302] + [409] * 9
    lost = next(answer for answer in answers if answer.status_code == 409)
    assert f'<option value="{home}-admin" selected>' in lost.content.decode()
    assert bound_to(tenancy, home, "ben") == [f"{home}-admin"]

    # Removing a member keeps the other subjects of the binding.
    shop = f"{home}-shop"
    answer = await ann.post(f"/workspaces/{home}/projects/-/new", name=shop)
    assert answer.status_code == 302, answer.content.decode()
    shared = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "shared", "namespace": shop},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}
            for name in ("ben", "cleo")
        ],
    }
    apply(tenancy, shared)
    await until(lambda: ben.may("list", shop), "rights of the member")
    cleo = Person(tenancy, "cleo")
    await until(lambda: cleo.may("list", shop), "rights of the other")
    answer = await ann.post(f"/workspaces/{home}/members/ben/remove")
    assert answer.status_code == 302, answer.content.decode()
    left = read(tenancy, ROLE_BINDINGS, "shared", shop)["subjects"]
    assert [subject["name"] for subject in left] == ["cleo"]
    await until(lambda: not ben.may("list", shop), "end of the rights")
    assert cleo.may("list", shop)


async def test_ten_concurrent_editors_of_a_role_lose_no_changes(tenancy: Tenancy) -> None:
    """Each editor adds a rule to the current role and retries after a conflict."""
    first = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    made = {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "WorkspaceRole",
        "metadata": {"name": "ten-own", "labels": {"kubesphere.io/workspace": "ten"}},
        "rules": [first],
    }
    apply(tenancy, user("tess"), template("ten", "tess"), made)
    tess = Person(tenancy, "tess")
    access = get_authorizer().access_for(Identity("tess"))
    await until(lambda: access.can("get", WORKSPACES, name="ten"), "sight of the workspace")
    page, answers = "/access/roles/workspace/ten-own", []
    await until(
        lambda: tenancy.runtime.informer(WORKSPACE_ROLES).store.get(Key("", "ten-own")), "the role"
    )
    assert (await tess.get(page)).status_code == 200

    async def add(at: int) -> None:
        extra = {"apiGroups": [""], "resources": [f"things{at}"], "verbs": ["get"]}
        while True:
            now = await asyncio.to_thread(read, tenancy, WORKSPACE_ROLES, "ten-own")
            meta, rules = now["metadata"], [*now["rules"], extra]
            fields = {"uid": meta["uid"], "version": meta["resourceVersion"]}
            answer = await tess.post(f"{page}/edit", **fields, further=yaml.safe_dump(rules))
            answers.append(answer.status_code)
            assert answer.status_code in (302, 409), answer.content.decode()
            if answer.status_code == 302:
                return

    await asyncio.gather(*(add(at) for at in range(10)))
    rules = read(tenancy, WORKSPACE_ROLES, "ten-own")["rules"]
    assert {rule["resources"][0] for rule in rules} == {
        "pods",
        *(f"things{at}" for at in range(10)),
    }
    assert 409 in answers, "nobody was ever in anybody's way"
    native = "quarterdeck:workspacerole:ten-own"
    await until(
        lambda: len((read(tenancy, CLUSTER_ROLES, native) or {}).get("rules", [])) == 11,
        "the native role",
    )


async def test_a_workspace_is_deleted_while_projects_are_created_in_it(tenancy: Tenancy) -> None:
    apply(tenancy, user("dave"), template("doomed", "dave"))
    dave = Person(tenancy, "dave")
    access = get_authorizer().access_for(Identity("dave"))
    await until(lambda: access.can("get", WORKSPACES, name="doomed"), "sight of the workspace")
    names = [f"doomed-{at}" for at in range(MADE)]

    async def make(name: str) -> int:
        answer = await dave.post("/workspaces/doomed/projects/-/new", name=name)
        return int(answer.status_code)

    making = [asyncio.create_task(make(name)) for name in names[:6]]
    await asyncio.wait(making, return_when=asyncio.FIRST_COMPLETED)
    making += [asyncio.create_task(make(name)) for name in names[6:]]
    await asyncio.to_thread(delete, tenancy, WORKSPACE_TEMPLATES, "doomed")
    codes = await asyncio.gather(*making)
    assert set(codes) <= {302, 400, 403, 404}, codes
    assert 302 in codes

    everything = (
        *(NAMESPACES, WORKSPACES, WORKSPACE_TEMPLATES, WORKSPACE_ROLES, WORKSPACE_ROLE_BINDINGS),
        *(CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS),
    )

    def left() -> list[str]:
        names = [item["metadata"]["name"] for gvr in everything for item in listed(tenancy, gvr)]
        return [name for name in names if "doomed" in name]

    await until(lambda: not left(), "end of all that is doomed", 120)
