"""The lifecycle of a tenant on a real control plane, through the pages and with kubectl as the
user.
"""

import html
import re
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.utils.translation import override

from console.audit.models import AuditRecord
from console.kube.gvr import (
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    LIMIT_RANGES,
    NAMESPACES,
    RESOURCE_QUOTAS,
    SERVICE_ACCOUNTS,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
    Key,
)
from console.kube.identity import Identity
from console.kube.indexes import indexes_of
from console.ui.core.clusters import clusters
from console.ui.navigation.page_routes import PageRoute, resolve_page
from rbac.process_clusters import get_authorizer
from tests.rbac.objects import rule, user, workspace_binding
from tests.workspaces.conftest import Tenancy
from tests.workspaces.users import (
    Person,
    apply,
    bound_to,
    change,
    delete,
    is_gone,
    listed,
    pod,
    read,
    template,
    until,
)
from workspaces.names import SHARE

TEMPLATES = "workspacetemplates.tenant.kubesphere.io"
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("site")]


async def test_the_lifecycle_of_a_tenant(tenancy: Tenancy) -> None:
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
    access = clusters.host.access_for(Identity("alice"))
    await until(lambda: access.can("get", WORKSPACES, name="acme"), "sight of the workspace")

    # One project with a quota, and another without.
    for name, fields in (("shop", {"pods": "2"}), ("web", {})):
        answer = await alice.post("/workspaces/acme/projects/-/new", name=name, **fields)
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

    # The share is enforced according to its status.
    await until(lambda: read(tenancy, SERVICE_ACCOUNTS, "default", "shop"), "the account")
    for name in ("one", "two"):
        # A quota without status admits nothing.
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

    # Etags of live pages match the rendered pages.
    for part in (
        "",
        "/projects",
        "/projects/shop",
        "/members",
        "/departments",
        "/quota",
        "/settings",
    ):
        # The cluster can change between both requests, so only a persistent difference is an error.
        for _look in range(10):
            text = (await alice.get(f"/workspaces/acme{part}")).content.decode()
            followed = re.search(r'data-url="([^"]+)" data-etag="&quot;(\w+)&quot;"', text)
            assert followed, part
            place, shown = resolve_page(followed[1]), f'"{followed[2]}"'
            assert isinstance(place, PageRoute), part
            with override("en"):
                told = place.etag(access)
            if told == shown:
                break
        assert told == shown, part

    # Requests above the remaining quota are refused with a reason.
    answer = await alice.post("/workspaces/acme/projects/-/new", name="big", pods="3")
    assert answer.status_code == 400
    assert "Enter 2 or less" in answer.content.decode()

    # Actions that tenants may not perform, neither in the console nor with kubectl.
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

    # Members are added and removed.
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
        assert (
            "This option is no longer available. Choose another option." in answer.content.decode()
        )
    assert bound_to(tenancy, "acme", "bob") == []
    answer = await alice.post("/workspaces/acme/members/invite", user="bob", role="acme-viewer")
    assert answer.status_code == 302, answer.content.decode()
    await until(lambda: bob.may("list", "shop"), "rights of the member")
    assert bob.kubectl("get", "pods", "-n", "shop").returncode == 0
    assert bob.kubectl("delete", "pod", "one", "-n", "shop").returncode != 0
    assert (await bob.get("/workspaces/acme/members")).status_code == 200
    answer = await bob.post("/workspaces/acme/members/invite", user="mallory", role="acme-viewer")
    assert answer.status_code == 403
    told = "You don't have permission to invite members in this workspace."
    assert told in html.unescape(answer.content.decode())
    answer = await alice.post("/workspaces/acme/members/bob/remove")
    assert answer.status_code == 302, answer.content.decode()
    await until(lambda: not bob.may("list", "shop"), "end of the rights")
    assert bob.kubectl("get", "pods", "-n", "shop").returncode != 0

    # Deletion with the user's identity, like any other object.
    assert alice.kubectl("delete", "ns", "shop", "--wait=false").returncode == 0
    await until(partial(is_gone, tenancy, NAMESPACES, "shop"), "end of the project", 60)
    written = [row async for row in AuditRecord.objects.filter(actor="alice")]
    assert {("create", "namespaces"), ("create", "workspacerolebindings")} <= {
        (row.verb, row.resource) for row in written
    }

    # Delete the workspace while a project is created in it.
    delete(tenancy, WORKSPACE_TEMPLATES, "acme")
    await alice.post("/workspaces/acme/projects/-/new", name="late")
    for gvr, name in ((WORKSPACE_TEMPLATES, "acme"), (NAMESPACES, "web"), (NAMESPACES, "late")):
        await until(partial(is_gone, tenancy, gvr, name), f"end of {name}", 90)
    for gvr in (WORKSPACE_ROLES, WORKSPACE_ROLE_BINDINGS):
        assert listed(tenancy, gvr, workspace="acme") == []


async def test_a_member_who_becomes_manager_has_one_role(tenancy: Tenancy) -> None:
    apply(tenancy, *map(user, ("mel", "nia")), template("solo", "mel"))
    mel = Person(tenancy, "mel")
    access = get_authorizer().access_for(Identity("mel"))
    await until(lambda: access.can("get", WORKSPACES, name="solo"), "sight of the workspace")
    answer = await mel.post("/workspaces/solo/members/invite", user="nia", role="solo-viewer")
    assert answer.status_code == 302, answer.content.decode()
    twice = await mel.post("/workspaces/solo/members/invite", user="mel", role="solo-viewer")
    assert twice.status_code == 400, twice.content.decode()
    page = (await mel.get("/workspaces/solo/settings?edit")).content.decode()
    version = re.search(r'name="version" value="([^"]+)"', page)
    assert version
    answer = await mel.post("/workspaces/solo/settings", version=version[1], manager="nia")
    assert answer.status_code == 302, answer.content.decode()
    await until(lambda: bound_to(tenancy, "solo", "nia") == ["solo-admin"], "the manager's role")
    await until(lambda: bound_to(tenancy, "solo", "mel") == [], "end of the first manager's")


def words() -> str:
    """Return a new random name for each call."""
    return uuid4().hex[:6]


async def opened(tenancy: Tenancy, workspace: str, manager: str) -> Person:
    """Wait until the manager may see the new workspace, and return the manager."""
    found = Person(tenancy, manager)
    access = get_authorizer().access_for(Identity(manager))
    await until(lambda: access.can("get", WORKSPACES, name=workspace), "sight of the workspace")
    return found


def fields_of(page: Any) -> dict[str, str]:
    """Return the form fields that a browser would submit."""
    text = page.content.decode().partition("<main")[2]
    fields = re.findall(r'<input (?=[^>]*name="([^"]+)")(?=[^>]*value="([^"]*)")', text)
    return {name: value for name, value in fields if name != "csrfmiddlewaretoken"}


async def test_members_cannot_grant_or_revoke_more_than_they_hold(tenancy: Tenancy) -> None:
    """Ivo manages members and departments, and has few other permissions."""
    home = f"rank-{words()}"
    boss, ivo, zoe, max_ = (f"{home}-{name}" for name in ("boss", "ivo", "zoe", "max"))
    keeper = {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "WorkspaceRole",
        "metadata": {"name": f"{home}-keeper", "labels": {"kubesphere.io/workspace": home}},
        "rules": [
            rule("*", "workspacemembers groups", "iam.kubesphere.io"),
            rule("get list watch", "*", "*"),
        ],
    }
    apply(tenancy, *map(user, (boss, ivo, zoe, max_)), template(home, boss), keeper)
    manager = await opened(tenancy, home, boss)
    roles = tenancy.runtime.informer(WORKSPACE_ROLES).store
    await until(lambda: roles.get(Key("", f"{home}-keeper")), "the role")
    members, departments = f"/workspaces/{home}/members", f"/workspaces/{home}/departments"
    for who, role in ((ivo, "keeper"), (zoe, "viewer"), (max_, "viewer")):
        answer = await manager.post(f"{members}/invite", user=who, role=f"{home}-{role}")
        assert answer.status_code == 302, answer.content.decode()
    assert (await manager.post(f"{departments}?new", title="Heads")).status_code == 302
    groups = tenancy.runtime.informer(GROUPS).store
    named = indexes_of(groups).by_label
    heads = (await until(lambda: named.get(f"kubesphere.io/workspace={home}"), "the department"))[0]
    page = f"{departments}/{heads.key.name}"
    answer = await manager.post(page, role=f"{home}-admin", add=zoe)
    assert answer.status_code == 302, answer.content.decode()

    keeps = await opened(tenancy, home, ivo)
    bindings = tenancy.runtime.informer(GROUP_BINDINGS).store
    await until(lambda: indexes_of(bindings).by_label.get(f"kubesphere.io/workspace={home}"), "zoe")
    seen = fields_of(await keeps.get(f"{members}/{max_}/role"))
    answer = await keeps.post(f"{members}/{max_}/role", **seen, role=f"{home}-admin")
    assert answer.status_code == 400, "a role above their own"
    for url, fields in ((page, {"add": ivo}), (page, {"leave": zoe}), (f"{page}/delete", {})):
        answer = await keeps.post(url, **fields_of(await keeps.get(page)), **fields)
        assert answer.status_code == 400, url
        assert "You cannot change this department" in answer.content.decode()
    answer = await keeps.post(f"{members}/{zoe}/remove?format=json")
    assert answer.json()["reason"] == "BadRequest" and zoe in answer.json()["message"]
    answer = await keeps.post(f"{members}/{zoe}/remove")
    assert answer.status_code == 400
    told = f"You cannot change {zoe} because this user has permissions in this workspace"
    assert told in answer.content.decode()
    assert bound_to(tenancy, home, max_) == [f"{home}-viewer"]
    found = listed(tenancy, GROUP_BINDINGS, workspace=home)
    assert [one["users"] for one in found] == [[zoe]]
    answer = await keeps.post(f"{members}/{max_}/remove?format=json")
    assert answer.json()["status"] == "Success"


def _is_cached(tenancy: Tenancy, gvr: GVR, name: str, namespace: str) -> bool:
    found = tenancy.runtime.informer(gvr).store.get(Key(namespace, name))
    version = read(tenancy, gvr, name, namespace)["metadata"]["resourceVersion"]
    return found is not None and found.resource_version == version


async def test_saving_a_quota_keeps_fields_outside_the_form(tenancy: Tenancy) -> None:
    home = f"kept-{words()}"
    boss, project = f"{home}-boss", f"{home}-shop"
    notes = {"labels": {"team": "crew"}, "annotations": {"example.org/why": "agreed"}}
    pods = {"pods": "9"}
    whole = {
        "apiVersion": "quota.kubesphere.io/v1alpha2",
        "kind": "ResourceQuota",
        "metadata": {"name": home, **notes},
        "spec": {
            "selector": {"kubesphere.io/workspace": home},
            "quota": {"hard": {**pods, "count/jobs.batch": "5"}, "scopes": ["NotTerminating"]},
        },
    }
    apply(tenancy, user(boss), template(home, boss), whole)
    manager, admin = await opened(tenancy, home, boss), Person(tenancy, "admin")
    assert (
        await manager.post(f"/workspaces/{home}/projects/-/new", name=project)
    ).status_code == 302
    await until(lambda: manager.may("create", project), "rights in the project")
    part = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": project, "namespace": project, **notes},
        "spec": {"hard": pods, "scopes": ["NotTerminating"]},
    }
    apply(tenancy, part)
    quotas = tenancy.runtime.informer(RESOURCE_QUOTAS).store
    await until(lambda: quotas.get(Key(project, project)), "the project's quota")

    for person, page, gvr, name, namespace in (
        (admin, f"/workspaces/{home}/quota?edit", WORKSPACE_QUOTAS, home, ""),
        (
            manager,
            f"/workspaces/{home}/projects/{project}/quota",
            RESOURCE_QUOTAS,
            project,
            project,
        ),
    ):
        before = read(tenancy, gvr, name, namespace)
        answer = await person.get(page)
        assert answer.status_code == 200, answer.content.decode()
        shown = fields_of(answer)
        answer = await person.post(page, **{**shown, "pods": "7"})
        assert answer.status_code == 302, answer.content.decode()
        after = read(tenancy, gvr, name, namespace)
        assert after["metadata"]["annotations"] == before["metadata"]["annotations"]
        assert before["metadata"]["labels"].items() <= after["metadata"]["labels"].items()
        quota = before["spec"].get("quota", before["spec"])
        quota["hard"]["pods"] = "7"
        assert after["spec"] == before["spec"]
        # A form that shows an older version is refused, even if the cache contains the new version.
        await until(partial(_is_cached, tenancy, gvr, name, namespace), "the news")
        assert (await person.post(page, **{**shown, "pods": "5"})).status_code == 409

    page = f"/workspaces/{home}/projects/{project}/limits"
    for cpu in ("1", "2"):
        shown = fields_of(await manager.get(page))
        assert (await manager.post(page, **{**shown, "default.cpu": cpu})).status_code == 302
        assert (await manager.post(page, **{**shown, "default.cpu": "3"})).status_code == 409
    found = read(tenancy, LIMIT_RANGES, project, project)
    assert found["spec"]["limits"][0]["default"]["cpu"] == "2"


async def test_role_changes_require_the_current_version(tenancy: Tenancy) -> None:
    """Applies to members and departments."""
    home = f"seen-{words()}"
    boss, zoe = f"{home}-boss", f"{home}-zoe"
    apply(tenancy, user(boss), user(zoe), template(home, boss))
    manager = await opened(tenancy, home, boss)
    members, departments = f"/workspaces/{home}/members", f"/workspaces/{home}/departments"
    answer = await manager.post(f"{members}/invite", user=zoe, role=f"{home}-viewer")
    assert answer.status_code == 302, answer.content.decode()
    assert (await manager.post(f"{departments}?new", title="Heads")).status_code == 302
    named = indexes_of(tenancy.runtime.informer(GROUPS).store).by_label
    heads = (await until(lambda: named.get(f"kubesphere.io/workspace={home}"), "the department"))[0]
    store = tenancy.runtime.informer(WORKSPACE_ROLE_BINDINGS).store

    def has(who: str, role: str) -> bool:
        found = (entry.projection for entry in store.snapshot().entries.values())
        return [one.role for one in found if one.subjects == (who,)] == [f"{home}-{role}"]

    for page, who in (
        (f"{members}/{zoe}/role", zoe),
        (f"{departments}/{heads.key.name}", heads.key.name),
    ):
        for role in ("regular", "self-provisioner"):
            shown = fields_of(await manager.get(page))
            answer = await manager.post(page, **{**shown, "role": f"{home}-{role}"})
            assert answer.status_code == 302, answer.content.decode()
            await until(partial(has, who, role), role)
        answer = await manager.post(page, **{**shown, "role": f"{home}-admin"})
        assert answer.status_code == 409
        assert has(who, "self-provisioner")


async def test_other_roles_of_a_department_are_shown_and_kept(tenancy: Tenancy) -> None:
    """Choosing a single role for the department replaces them."""
    home = f"more-{words()}"
    boss, zoe = f"{home}-boss", f"{home}-zoe"
    apply(tenancy, user(boss), user(zoe), template(home, boss))
    manager = await opened(tenancy, home, boss)
    departments = f"/workspaces/{home}/departments"
    answer = await manager.post(
        f"/workspaces/{home}/members/invite", user=zoe, role=f"{home}-viewer"
    )
    assert answer.status_code == 302, answer.content.decode()
    assert (await manager.post(f"{departments}?new", title="Heads")).status_code == 302
    named = indexes_of(tenancy.runtime.informer(GROUPS).store).by_label
    heads = (await until(lambda: named.get(f"kubesphere.io/workspace={home}"), "the department"))[0]
    group, page = heads.key.name, f"{departments}/{heads.key.name}"
    for role in ("viewer", "regular"):
        binding = workspace_binding(f"{home}-{role}", home, f"{home}-{role}", f"Group {group}")
        apply(tenancy, binding)
    store = tenancy.runtime.informer(WORKSPACE_ROLE_BINDINGS).store

    def has() -> list[str]:
        found = (entry.projection for entry in store.snapshot().entries.values())
        return sorted(one.role for one in found if group in one.groups)

    both = [f"{home}-regular", f"{home}-viewer"]
    await until(lambda: has() == both, "both roles")
    assert f"<td>{', '.join(both)}</td>" in (await manager.get(departments)).content.decode()
    answer = await manager.get(page)
    chosen = re.findall(r'<option value="([^"]+)" selected', answer.content.decode())
    assert chosen == [", ".join(both)]
    answer = await manager.post(page, **fields_of(answer), role=chosen[0], add=zoe)
    assert answer.status_code == 302, answer.content.decode()
    bindings = tenancy.runtime.informer(GROUP_BINDINGS).store
    await until(lambda: indexes_of(bindings).by_label.get(f"kubesphere.io/workspace={home}"), "zoe")
    assert has() == both
    answer = await manager.post(page, **fields_of(await manager.get(page)), role=both[1])
    assert answer.status_code == 302, answer.content.decode()
    await until(lambda: has() == both[1:], "one role")


async def test_settings_require_the_current_version_and_deletion_waits_for_finalizers(
    tenancy: Tenancy,
) -> None:
    home = f"last-{words()}"
    boss = f"{home}-boss"
    held = template(home, boss)
    held["metadata"]["finalizers"] = ["example.org/hold"]
    apply(tenancy, user(boss), held)
    manager = await opened(tenancy, home, boss)
    page = f"/workspaces/{home}/settings"
    shown = fields_of(await manager.get(f"{page}?edit"))
    assert shown["manager"] == boss
    assert (await manager.post(page, **{**shown, "alias": "First"})).status_code == 302
    answer = await manager.post(page, **{**shown, "alias": "Second"})
    assert answer.status_code == 409
    found = read(tenancy, WORKSPACE_TEMPLATES, home)
    assert found["metadata"]["annotations"]["kubesphere.io/alias-name"] == "First"

    admin, page = Person(tenancy, "admin"), f"/clusters/host/{TEMPLATES}/{home}/actions/delete"
    answer = await admin.get(f"/workspaces/{home}/delete")
    assert (answer.status_code, answer["Location"]) == (302, page)
    answer = await admin.post(f"/workspaces/{home}/delete")
    assert (answer.status_code, answer["Location"]) == (307, page)
    answer = await admin.get(page)
    shown = {**fields_of(answer), "typed": home, "keep": "on"}
    assert f"Delete workspace {home}" in answer.content.decode()
    for who in (manager, Person(tenancy, "charlie")):
        answer = await who.post(page, **shown)
        assert answer.status_code == 403
        assert "You don't have permission to" in html.unescape(answer.content.decode())
    assert (await admin.post(page, **{**shown, "typed": "another"})).status_code == 400
    answer = await admin.post(f"{page}?format=json", **{**shown, "uid": "other"})
    assert answer.status_code in (409, 422), answer.content.decode()
    assert "replaced by another object with the same name" in answer.json()["message"]
    left = read(tenancy, WORKSPACE_TEMPLATES, home)["metadata"]
    assert left["finalizers"] == found["metadata"]["finalizers"]
    answer = await admin.post(f"{page}?format=json", **shown)
    assert answer.json()["status"] == "Success", answer.content.decode()
    rows = AuditRecord.objects.filter(name=home, verb="delete").order_by("time")
    assert [(row.actor, row.as_user, row.resource, row.code == 200) async for row in rows] == [
        ("admin", "admin", "workspacetemplates", done) for done in (False, True)
    ]
    left = read(tenancy, WORKSPACE_TEMPLATES, home)["metadata"]
    assert left["deletionTimestamp"] and "example.org/hold" in left["finalizers"]
    change(tenancy, WORKSPACE_TEMPLATES, home, {"metadata": {"finalizers": None}})
    await until(partial(is_gone, tenancy, WORKSPACE_TEMPLATES, home), "the end")

    system = f"/clusters/host/{TEMPLATES}/system-workspace/actions/delete"
    for answer in (await admin.get(system), await admin.post(system, uid="any")):
        assert answer.status_code == 409
        assert "system projects cannot be deleted" in answer.content.decode()
