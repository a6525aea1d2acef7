"""Platform roles with KubeSphere's workspace resources, through the pages and with kubectl."""

import html
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import yaml

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    NAMESPACES,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACES,
    Key,
)
from console.kube.identity import Identity
from console.ui.core.clusters import clusters
from rbac.process_clusters import get_authorizer
from tests.rbac.objects import (
    IAM,
    TENANT,
    Manifest,
    binding,
    global_role,
    native_binding,
    native_role,
    rule,
    user,
)
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
from workspaces.rights import may_see_quota

pytestmark = [pytest.mark.usefixtures("site"), pytest.mark.django_db(transaction=True)]

#: Resources of KubeSphere 3.3.0's `workspaces-manager`. They don't include workspace templates.
WORDS = (
    "namespaces pods secrets deployments devops devopsprojects workspaces workspaceroles"
    " workspacemembers workspacerolebindings groups groupbindings rolebindings roles"
)
READ = "get list watch"
ROLES = {
    "workspaces-manager": [rule("*", WORDS, "*"), rule(READ, "users users/loginrecords", "*")],
    "inviters": [
        rule(READ, "workspaces", TENANT),
        rule(f"{READ} create update delete", "workspacemembers groups", IAM),
    ],
}


@pytest.fixture(scope="module", autouse=True)
def staff(tenancy: Tenancy) -> Iterator[None]:
    """Create users: `wim` manages workspaces, `ines` invites members, `owen` has a workspace."""
    people = ("wim", "ines", "owen", "gus", "gil")
    apply(tenancy, *map(user, people), template("works", "owen"))
    for name, rules in ROLES.items():
        apply(tenancy, global_role(name, *rules))
    for who, role in (("wim", "workspaces-manager"), ("ines", "inviters")):
        apply(tenancy, binding(f"{who}-{role}", ("User", who), role=role))
    yield
    for who, role in (("wim", "workspaces-manager"), ("ines", "inviters")):
        delete(tenancy, GLOBAL_ROLE_BINDINGS, f"{who}-{role}")
        delete(tenancy, GLOBAL_ROLES, role)


async def ready(tenancy: Tenancy, who: str) -> Person:
    """Return the user once the console has loaded the user's permissions and the workspace's roles."""
    access = get_authorizer().access_for(Identity(who))
    for role in ("admin", "regular", "viewer"):
        key, store = Key("", f"works-{role}"), tenancy.runtime.informer(WORKSPACE_ROLES).store
        await until(partial(store.get, key), "the roles")
    await until(lambda: access.can("get", WORKSPACES, name="works"), "the rights")
    manages = Key("", "works-admin")
    bindings = tenancy.runtime.informer(WORKSPACE_ROLE_BINDINGS).store
    await until(partial(bindings.get, manages), "its manager")
    return Person(tenancy, who)


async def test_the_workspaces_manager_role_of_kubesphere_3_3_manages_all_workspaces(
    tenancy: Tenancy,
) -> None:
    wim = await ready(tenancy, "wim")
    assert "owen" in text_of(await wim.get("/workspaces/works/members"))
    form = (await wim.get("/workspaces/-/new")).content.decode()
    assert 'hx-get="/workspaces/-/users"' in form and '<datalist id="found-users">' in form
    found = (await wim.get("/workspaces/-/users?manager=owe")).content.decode()
    assert '<option value="owen">' in found
    answer = await wim.post("/workspaces/-/new", name="wims", manager="owen")
    assert answer.status_code == 302, answer.content
    await until(lambda: read(tenancy, WORKSPACES, "wims"), "the workspace")
    # Members, departments and projects of any workspace.
    invite = "/workspaces/works/members/invite"
    assert (await wim.post(invite, user="gus", role="works-viewer")).status_code == 302
    await until(lambda: bound_to(tenancy, "works", "gus") == ["works-viewer"], "the member")
    answer = await wim.post("/workspaces/works/departments?new", title="Sales", parent="")
    assert answer.status_code == 302
    await until(lambda: listed(tenancy, GROUPS, workspace="works"), "the department")
    assert (await wim.post("/workspaces/works/projects/-/new", name="wim-shop")).status_code == 302
    await until(lambda: read(tenancy, NAMESPACES, "wim-shop"), "the project")
    # The same with kubectl, except for objects that grant permissions.
    assert (
        wim.kubectl(
            "apply", "-f", "-", stdin=yaml.safe_dump(template("wims-own", "wim"))
        ).returncode
        == 0
    )
    await until(lambda: read(tenancy, WORKSPACES, "wims-own"), "the workspace of kubectl")
    done = wim.kubectl("create", "-f", "-", stdin=yaml.safe_dump(_member("works", "gil")))
    assert "Forbidden" in done.stderr
    # No access to users.
    assert (await wim.get("/workspaces/works/members")).status_code == 200
    assert "Forbidden" in wim.kubectl("delete", "users.iam.kubesphere.io", "gil").stderr


async def test_permissions_for_members_apply_to_every_workspace(tenancy: Tenancy) -> None:
    ines = await ready(tenancy, "ines")
    assert "owen" in text_of(await ines.get("/workspaces/works/members"))
    invite = "/workspaces/works/members/invite"
    # Only roles within her own permissions.
    for role in ("works-admin", "works-viewer"):
        assert (await ines.post(invite, user="gil", role=role)).status_code == 400, role
    assert bound_to(tenancy, "works", "gil") == []
    assert (await ines.post(invite, user="gil", role="works-regular")).status_code == 302
    assert bound_to(tenancy, "works", "gil") == ["works-regular"]
    answer = await ines.post("/workspaces/works/departments?new", title="Guests", parent="")
    assert answer.status_code == 302
    # Actions that she may not perform.
    assert (await ines.post("/workspaces/-/new", name="iness", manager="ines")).status_code == 403
    assert (await ines.get("/workspaces/-/users?manager=gil")).status_code == 403
    assert (await ines.post("/workspaces/works/projects/-/new", name="ines-x")).status_code == 403
    access = get_authorizer().access_for(Identity("ines"), clusters.host)
    assert not may_see_quota(access, "works")


async def test_a_department_with_more_permissions_requires_these_permissions(
    tenancy: Tenancy,
) -> None:
    ines, owen = await ready(tenancy, "ines"), await ready(tenancy, "owen")
    departments = "/workspaces/works/departments"
    assert (await owen.post(f"{departments}?new", title="Keepers")).status_code == 302

    def keepers() -> Any:
        found = listed(tenancy, GROUPS, workspace="works")
        return [one["metadata"]["name"] for one in found if "Keepers" in str(one["metadata"])]

    (name,) = await until(keepers, "the department")
    store = tenancy.runtime.informer(GROUPS).store
    await until(partial(store.get, Key("", name)), "the department")
    if not bound_to(tenancy, "works", "ines"):
        invited = await owen.post(
            "/workspaces/works/members/invite", user="ines", role="works-regular"
        )
        assert invited.status_code == 302
    role = native_role("see-nodes", rule("get", "nodes", "core"))
    bound = native_binding("keepers", "see-nodes", f"Group {name}")
    apply(tenancy, role, bound)
    bindings = tenancy.runtime.informer(CLUSTER_ROLE_BINDINGS).store
    await until(partial(bindings.get, Key("", "keepers")), "the binding")
    page = f"{departments}/{name}"
    for url, fields in (
        (page, {"add": "ines"}),
        (page, {"role": "works-regular"}),
        (f"{page}/delete", {}),
    ):
        answer = await ines.post(url, **fields)
        assert answer.status_code == 400, url
        assert "Keepers has permissions that you don't have." in html.unescape(text_of(answer))
    assert listed(tenancy, GROUP_BINDINGS, workspace="works") == []
    # The workspace administrator may change it.
    assert (await owen.post(page, add="owen")).status_code == 302
    (member,) = listed(tenancy, GROUP_BINDINGS, workspace="works")
    members = tenancy.runtime.informer(GROUP_BINDINGS).store
    await until(partial(members.get, Key("", member["metadata"]["name"])), "the member")
    answer = await ines.post(page, leave="owen")
    assert answer.status_code == 400
    assert "Keepers has permissions that you don't have." in html.unescape(text_of(answer))
    delete(tenancy, GROUP_BINDINGS, member["metadata"]["name"])
    delete(tenancy, CLUSTER_ROLE_BINDINGS, "keepers")
    await until(lambda: not members.get(Key("", member["metadata"]["name"])), "nobody in it")
    await until(lambda: not bindings.get(Key("", "keepers")), "no binding")
    assert (await ines.post(page, add="ines")).status_code == 302


def text_of(answer: Any) -> str:
    return str(answer.content.decode())


def _member(workspace: str, name: str) -> Manifest:
    return {
        "apiVersion": f"{IAM}/v1alpha2",
        "kind": "WorkspaceRoleBinding",
        "metadata": {
            "name": f"{workspace}.{name}",
            "labels": {"kubesphere.io/workspace": workspace},
        },
        "roleRef": {"apiGroup": IAM, "kind": "WorkspaceRole", "name": f"{workspace}-admin"},
        "subjects": [{"kind": "User", "name": name}],
    }
