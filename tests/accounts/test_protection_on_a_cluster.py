"""Users of a KubeSphere 3.4 cluster sign in, choose a password, are locked, unlocked and deleted,
on the embedded and on a real cluster with running controllers.
"""

from typing import Any
from uuid import uuid4

import bcrypt
import pytest

from accounts.users.reconciler import FINALIZER
from console.kube.clients import ConsoleClient
from console.kube.gvr import GLOBAL_ROLE_BINDINGS, LOGIN_RECORDS, USERS
from console.kube.indexes import indexes_of
from tests.accounts.clusters import World, on, running, until, world
from tests.accounts.conftest import HASH, PASSWORD, Browser
from tests.rbac.objects import binding, user

__all__ = ["running", "world"]

pytestmark = [pytest.mark.django_db(transaction=True), on("real")]

NEW = "Quarterdeck-7"


def of_kubesphere(name: str, **spec: Any) -> dict[str, Any]:
    """Return a user as in a KubeSphere 3.4 cluster: with Go's bcrypt prefix and the uninitialized
    annotation.
    """
    item = user(
        name,
        password="$2a$" + HASH[4:],
        annotations={
            "iam.kubesphere.io/last-password-change-time": "2023-05-01T08:00:00Z",
            "iam.kubesphere.io/uninitialized": "true",
        },
        finalizers=[FINALIZER],
    )
    item["spec"] |= {"lang": "zh", "groups": [], **spec}
    item["status"] |= {
        "lastLoginTime": "2023-06-01T08:00:00Z",
        "lastTransitionTime": "2023-05-01T08:00:00Z",
    }
    return item


async def test_a_kubesphere_user_signs_in_and_chooses_a_password(world: World) -> None:
    await world.create(USERS, of_kubesphere("mover"))
    browser = Browser()
    assert (await browser.login("mover")).status_code == 302
    assert (await browser.get("/dashboard"))["Location"].startswith("/password/confirm")
    fields = {"current": PASSWORD, "password": NEW, "again": NEW}
    answer = await browser.post("/password/confirm", fields)
    assert answer.status_code == 302, answer.content.decode()
    assert (await browser.get("/dashboard")).status_code == 200
    found = world.cached("mover")
    assert found is not None
    assert bcrypt.checkpw(NEW.encode(), found["spec"]["password"].encode())
    assert (await browser.get("/account")).status_code == 200
    fields = {"email": "mover@example.com", "displayName": "M", "language": "en", "theme": "auto"}
    assert (await browser.post("/account/profile", fields)).status_code == 302
    assert (world.cached("mover") or {})["spec"]["displayName"] == "M"


async def test_failures_lock_and_an_administrator_unlocks(world: World) -> None:
    await world.create(USERS, user("lena", password=HASH))
    for _ in range(10):
        assert (await Browser().login("lena", "wrong")).status_code == 401
    assert (await Browser().login("lena")).status_code == 429
    await until(lambda: world.state("lena") == "AuthLimitExceeded", "the state says so")
    records = indexes_of(world.runtime.informer(LOGIN_RECORDS).store).by_label
    assert len(records.get("iam.kubesphere.io/user-ref=lena")) == 10
    admin = Browser()
    await admin.login("admin")
    page = await admin.get("/access/accounts/users/lena")
    assert "Unlock" in page.content.decode()
    uid = (world.cached("lena") or {})["metadata"]["uid"]
    answer = await admin.post(
        "/clusters/host/users.iam.kubesphere.io/lena/actions/unlock", {"uid": uid}
    )
    assert answer.status_code == 302, answer.content.decode()
    assert world.state("lena") == "Active"
    assert (await Browser().login("lena")).status_code == 302
    await until(lambda: "lastLoginTime" in (world.cached("lena") or {})["status"], "the last login")
    assert world.state("lena") == "Active"


async def test_an_administrator_creates_disables_and_enables_a_user(world: World) -> None:
    admin, nina = Browser(), Browser()
    # Different names for each run.
    name = f"nina-{uuid4().hex[:8]}"
    await admin.login("admin")
    fields = {"name": name, "email": f"{name}@example.com", "password": NEW}
    answer = await admin.post("/access/accounts/new", fields)
    assert answer.status_code == 302, answer.content.decode()
    await until(lambda: world.state(name) == "Active", "the user is active")
    assert (await nina.login(name, NEW)).status_code == 302
    actions = f"/clusters/host/users.iam.kubesphere.io/{name}/actions"
    another = await admin.post(f"{actions}/disable", {"uid": "of-another-one"})
    assert another.status_code == 422 and world.state(name) == "Active"
    uid = {"uid": (world.cached(name) or {})["metadata"]["uid"]}
    assert (await admin.post(f"{actions}/disable", uid)).status_code == 302
    assert (await nina.get("/dashboard"))["Location"].startswith("/login")
    assert (await Browser().login(name, NEW)).status_code == 401
    assert (await admin.post(f"{actions}/enable", uid)).status_code == 302
    assert (await Browser().login(name, NEW)).status_code == 302


async def test_deleting_a_user_deletes_bindings_of_the_name(world: World) -> None:
    await world.create(USERS, of_kubesphere("otto"))
    granted = binding("otto-platform-admin", ("User", "otto"))
    granted["metadata"]["labels"] = {"iam.kubesphere.io/user-ref": "otto"}
    await world.create(GLOBAL_ROLE_BINDINGS, granted)
    await ConsoleClient(world.admin).delete(USERS, name="otto")
    await until(lambda: world.cached("otto") is None, "otto is gone")
    name = "otto-platform-admin"
    await until(lambda: world.cached(name, GLOBAL_ROLE_BINDINGS) is None, "and the rights too")
