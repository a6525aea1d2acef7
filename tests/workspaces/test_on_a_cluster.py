"""A tenant's whole life on a real control plane: through the pages, and with kubectl as that person."""

import re
from functools import partial

import pytest
from django.utils.translation import override

from console.audit.models import AuditRecord
from console.kube.gvr import (
    NAMESPACES,
    RESOURCE_QUOTAS,
    SERVICE_ACCOUNTS,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from console.kube.identity import Identity
from console.ui.places import PagePlace, find_place
from rbac.current import get_authorizer
from tests.rbac.objects import user
from tests.workspaces.cast import (
    Person,
    apply,
    bound_to,
    delete,
    is_gone,
    listed,
    pod,
    read,
    template,
    until,
)
from tests.workspaces.conftest import Tenancy
from workspaces.names import SHARE

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("site")]


async def test_a_tenants_whole_life(tenancy: Tenancy) -> None:
    apply(tenancy, *map(user, ("alice", "bob", "mallory")), template("acme", "alice"))
    quota = {
        "apiVersion": "quota.kubesphere.io/v1alpha2",
        "kind": "ResourceQuota",
        "metadata": {"name": "acme"},
        "spec": {
            "selector": {"kubesphere.io/workspace": "acme"},
            "quota": {"hard": {"pods": "4", "requests.cpu": "1"}},
        },
    }
    apply(tenancy, quota)
    alice, bob = Person(tenancy, "alice"), Person(tenancy, "bob")
    mallory = Person(tenancy, "mallory")
    access = get_authorizer().access_for(Identity("alice"))
    await until(lambda: access.can("get", WORKSPACES, name="acme"), "sight of the workspace")

    # A project with a quota of its own, and another without.
    for name, fields in (("shop", {"pods": "2"}), ("web", {})):
        answer = await alice.post("/workspaces/acme/projects/new", name=name, **fields)
        assert answer.status_code == 302, answer.content.decode()
    await until(lambda: alice.may("create", "shop") and alice.may("create", "web"), "rights")
    await until(
        lambda: (
            (read(tenancy, RESOURCE_QUOTAS, SHARE, "shop") or {})
            .get("status", {})
            .get("hard", {})
            .get("pods")
            == "2"
        ),
        "the share",
    )
    meta = read(tenancy, NAMESPACES, "shop")["metadata"]
    assert meta["annotations"]["kubesphere.io/creator"] == "alice"
    assert meta["ownerReferences"][0]["kind"] == "Workspace"

    # The share is enforced, and says so.
    await until(lambda: read(tenancy, SERVICE_ACCOUNTS, "default", "shop"), "the account")
    for name in ("one", "two"):
        # A quota that nobody has counted yet admits nothing.
        await until(partial(alice.applies, pod(name), "shop"), f"pod {name}")
    refused = alice.kubectl("apply", "-n", "shop", "-f", "-", stdin=pod("three"))
    assert refused.returncode != 0
    assert "exceeded quota" in refused.stderr
    await until(
        lambda: (
            (read(tenancy, WORKSPACE_QUOTAS, "acme") or {})
            .get("status", {})
            .get("total", {})
            .get("used", {})
            .get("pods")
            == "2"
        ),
        "the usage",
    )
    page = await alice.get("/workspaces/acme/quota")
    assert "2 of 4" in page.content.decode()

    # What sockets are told to compare is what the pages show.
    for part in (
        "",
        "/projects",
        "/projects/shop",
        "/members",
        "/departments",
        "/quota",
        "/settings",
    ):
        # The cluster may change between the two: only what stays different is wrong.
        for _look in range(10):
            text = (await alice.get(f"/workspaces/acme{part}")).content.decode()
            followed = re.search(r'data-url="([^"]+)" data-etag="&quot;(\w+)&quot;"', text)
            assert followed, part
            place, shown = find_place(followed[1]), f'"{followed[2]}"'
            assert isinstance(place, PagePlace), part
            with override("en"):
                told = place.etag(access)
            if told == shown:
                break
        assert told == shown, part

    # More than is left is refused with a reason.
    answer = await alice.post("/workspaces/acme/projects/new", name="big", pods="3")
    assert answer.status_code == 400
    assert "left for this project" in answer.content.decode()

    # What tenants may not: neither here nor with kubectl.
    for arguments in (
        ("label", "ns", "shop", "kubesphere.io/workspace=other", "--overwrite"),
        ("label", "ns", "shop", "kubesphere.io/workspace-"),
        ("annotate", "ns", "shop", "kubesphere.io/creator=bob", "--overwrite"),
        ("patch", "ns", "shop", "--type=merge", "-p", '{"metadata":{"ownerReferences":null}}'),
        ("delete", "quota", "quarterdeck-workspace", "-n", "shop"),
        (
            "patch", "quota", "quarterdeck-workspace", "-n", "shop", "--type=merge",
            "-p", '{"spec":{"hard":{"pods":"100"}}}',
        ),
        ("create", "ns", "own"),
        ("get", "pods", "-n", "kube-system"),
        ("get", "ns"),
        ("get", "users.iam.kubesphere.io"),
    ):  # fmt: skip
        found = alice.kubectl(*arguments)
        assert found.returncode != 0, arguments
        assert "orbidden" in found.stderr or "are changed by administrators" in found.stderr, found
    assert alice.kubectl("label", "ns", "shop", "team=a").returncode == 0
    assert (await alice.get("/workspaces/acme/quota?edit")).status_code == 403

    # Members come and go.
    for url in ("/workspaces/acme", "/workspaces/acme/members", "/workspaces/none"):
        answer = await bob.get(url)
        text = answer.content.decode()
        assert answer.status_code == 403
        assert "kind: ClusterRole" not in text
        assert f"Please invite me to the workspace {url.split('/')[2]}: http" in text
    answer = await mallory.post(
        "/workspaces/acme/members/invite", user="mallory", role="acme-admin"
    )
    assert answer.status_code == 403
    for role in ("junk", "", "other-viewer"):
        answer = await alice.post("/workspaces/acme/members/invite", user="bob", role=role)
        assert answer.status_code == 400
        assert "This is not one of the choices any more." in answer.content.decode()
    assert bound_to(tenancy, "acme", "bob") == []
    answer = await alice.post("/workspaces/acme/members/invite", user="bob", role="acme-viewer")
    assert answer.status_code == 302, answer.content.decode()
    await until(lambda: bob.may("list", "shop"), "rights of the member")
    assert bob.kubectl("get", "pods", "-n", "shop").returncode == 0
    assert bob.kubectl("delete", "pod", "one", "-n", "shop").returncode != 0
    assert (await bob.get("/workspaces/acme/members")).status_code == 200
    answer = await bob.post("/workspaces/acme/members/invite", user="mallory", role="acme-viewer")
    assert answer.status_code == 403
    assert "does not let you invite members." in answer.content.decode()
    answer = await alice.post("/workspaces/acme/members/bob/remove")
    assert answer.status_code == 302, answer.content.decode()
    await until(lambda: not bob.may("list", "shop"), "end of the rights")
    assert bob.kubectl("get", "pods", "-n", "shop").returncode != 0

    # Deleted like anything else, as the person.
    assert alice.kubectl("delete", "ns", "shop", "--wait=false").returncode == 0
    await until(partial(is_gone, tenancy, NAMESPACES, "shop"), "end of the project", 60)
    written = [row async for row in AuditRecord.objects.filter(actor="alice")]
    assert {("create", "namespaces"), ("create", "workspacerolebindings")} <= {
        (row.verb, row.resource) for row in written
    }

    # The workspace, with a project that is made at the same time.
    delete(tenancy, WORKSPACE_TEMPLATES, "acme")
    await alice.post("/workspaces/acme/projects/new", name="late")
    for gvr, name in ((WORKSPACE_TEMPLATES, "acme"), (NAMESPACES, "web"), (NAMESPACES, "late")):
        await until(partial(is_gone, tenancy, gvr, name), f"end of {name}", 90)
    for gvr in (WORKSPACE_ROLES, WORKSPACE_ROLE_BINDINGS):
        assert listed(tenancy, gvr, workspace="acme") == []


async def test_a_member_who_comes_to_manage_has_one_role(tenancy: Tenancy) -> None:
    apply(tenancy, *map(user, ("mel", "nia")), template("solo", "mel"))
    mel = Person(tenancy, "mel")
    access = get_authorizer().access_for(Identity("mel"))
    await until(lambda: access.can("get", WORKSPACES, name="solo"), "sight of the workspace")
    answer = await mel.post("/workspaces/solo/members/invite", user="nia", role="solo-viewer")
    assert answer.status_code == 302, answer.content.decode()
    twice = await mel.post("/workspaces/solo/members/invite", user="mel", role="solo-viewer")
    assert twice.status_code == 400
    page = (await mel.get("/workspaces/solo/settings?edit")).content.decode()
    version = re.search(r'name="version" value="([^"]+)"', page)
    assert version
    answer = await mel.post("/workspaces/solo/settings", version=version[1], manager="nia")
    assert answer.status_code == 302, answer.content.decode()
    await until(lambda: bound_to(tenancy, "solo", "nia") == ["solo-admin"], "the manager's role")
    await until(lambda: bound_to(tenancy, "solo", "mel") == [], "end of the first manager's")
