"""User managers by a KubeSphere platform role: the console writes on their behalf, because
Kubernetes doesn't allow these writes to the role.
"""

from uuid import uuid4

from console.kube.gvr import GLOBAL_ROLE_BINDINGS, USERS
from tests.accounts.conftest import PASSWORD
from tests.accounts.kubesphere.objects import global_binding, user, workspace_binding
from tests.accounts.kubesphere.world import Visitor, World
from tests.controlplane.waiting import eventually

NEW, ACCOUNTS = "/access/accounts/new", "/access/accounts/users"
FIRST, SECOND = "Quarterdeck-7", "Quarterdeck-8"


def act(world: World, who: Visitor, name: str, what: str, **fields: str) -> int:
    uid = world.get(USERS, name)["metadata"]["uid"]
    path = f"/clusters/host/users.iam.kubesphere.io/{name}/actions/{what}"
    return who.post("/dashboard", path, uid=uid, **fields)[0]


def test_managers_create_and_reset_users_without_more_permissions(world: World) -> None:
    # Unique names, because the cluster is shared.
    once = uuid4().hex[:6]
    manager, nina = f"meg-{once}", f"nina-{once}"
    made = user(manager)
    del made["metadata"]["finalizers"]
    world.put(made, global_binding(f"{manager}-people", "people-managers", f"User {manager}"))
    admin = world.visitor("admin")
    eventually(lambda: "Active" in admin.get(f"{ACCOUNTS}/{manager}")[1], "she may sign in")
    meg = world.visitor(manager, PASSWORD)
    eventually(lambda: meg.get(NEW)[0] == 200, "the form")
    fields = {"name": nina, "email": f"{nina}@example.com", "password": FIRST}
    status, text = meg.post(NEW, NEW, **fields, role="platform-regular")
    assert status == 200 and meg.landed.endswith(f"{ACCOUNTS}/{nina}"), text
    binding = world.get(GLOBAL_ROLE_BINDINGS, f"{nina}-platform-regular")
    assert binding["subjects"][0]["name"] == nina
    eventually(lambda: "Active" in meg.get(f"{ACCOUNTS}/{nina}")[1], "she may sign in")
    assert world.visitor().sign_in(nina, FIRST)
    assert act(world, meg, nina, "password", password=SECOND) == 200
    assert world.visitor().sign_in(nina, SECOND)
    # Most users are members of a workspace, and can still be managed.
    world.put(workspace_binding("demo", "viewer", f"User {nina}"))
    eventually(lambda: "demo" in admin.get(f"{ACCOUNTS}/{nina}")[1], "a role in a workspace")
    assert act(world, meg, nina, "password", password=FIRST) == 200
    # Not possible with kubectl: this permission would allow impersonating any user.
    done = world.cluster.kubectl(
        "patch", "users.iam.kubesphere.io", nina, "--type=merge", "-p", '{"spec":{"lang":"zh"}}',
        f"--as={manager}", "--as-group=system:authenticated",
    )  # fmt: skip
    assert "Forbidden" in done.stderr
    kept = world.get(USERS, "admin")["spec"]
    for what, more in (("password", {"password": SECOND}), ("disable", {})):
        assert act(world, meg, "admin", what, **more) == 403, what
    assert world.get(USERS, "admin")["spec"] == kept
    world.kubectl("delete", "users.iam.kubesphere.io", nina, manager, "--timeout=60s")
