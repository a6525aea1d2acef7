"""Edit pages of objects in a project, and a user who may edit these objects."""

from dataclasses import dataclass

import pytest

from console.kube.gvr import Key
from console.ui.core.clusters import HOST, clusters
from console.ui.core.clusters import Cluster as ConsoleCluster
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.edit_forms import Form, form_of
from tests.contract.grants import Grants, rule
from tests.contract.objects import deployment, path, unique
from tests.contract.pages import join
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS


def cluster_of_host() -> ConsoleCluster:
    found = clusters.get(HOST)
    assert found is not None
    return found


@dataclass(frozen=True)
class Desk:
    """A project and a user with permission to edit objects in it."""

    admin: Client
    namespace: str
    who: str

    def make(self, body: Obj, plural: str, group: str = "") -> "Page":
        made = self.admin.post(path(self.namespace, plural, group=group), body).ok()
        return self.of(made["metadata"]["name"], plural, group)

    def of(self, name: str, plural: str, group: str = "") -> "Page":
        return Page(self, path(self.namespace, plural, name, group=group), plural, name)


@dataclass(frozen=True)
class Page:
    desk: Desk
    where: str
    plural: str
    name: str

    @property
    def key(self) -> Key:
        return Key(self.desk.namespace, self.name)

    @property
    def url(self) -> str:
        return f"/clusters/host/projects/{self.desk.namespace}/{self.plural}/{self.name}/edit"

    def now(self) -> Obj:
        found: Obj = self.desk.admin.get(self.where).ok()
        return found

    @property
    def image(self) -> str:
        return str(self.now()["spec"]["template"]["spec"]["containers"][0]["image"])

    def patch(self, body: Obj, manager: str = "kubectl-edit") -> None:
        self.desk.admin.patch(self.where, body, MERGE_PATCH, fieldManager=manager).ok()

    async def open(self) -> Form:
        response = await ClientAs()(self.desk.who).get(self.url)
        return form_of(response.status_code, await text_of(response))

    async def send(self, form: Form, step: str = "review", **more: str) -> Form:
        data = {**form.fields, "step": step, **more}
        response = await ClientAs()(self.desk.who).post(self.url, data)
        return form_of(response.status_code, await text_of(response))

    async def saved(self, form: Form) -> None:
        reviewed = await self.send(form)
        assert reviewed.status == 200, (reviewed.problems, reviewed.html)
        done = await self.send(reviewed, "save")
        assert done.status == 302, done.html


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, admin: Client, namespace: str, cleanup: Cleanup) -> Desk:
    who = unique("editor")
    where = {namespace}
    viewer = FakeAccess(who, list_in=where, delete_in=where, get_in=where)
    monkeypatch.setitem(VIEWERS, who, lambda: viewer)
    verbs = "get list patch"
    rules = [rule(verbs, "deployments", "apps"), rule(verbs, "configmaps secrets services")]
    join(viewer, Grants(cleanup, namespace).team(*rules, here=True))
    return Desk(admin, namespace, who)


@pytest.fixture
def web(desk: Desk) -> Page:
    return desk.make(deployment(unique("web"), "example/web:1"), "deployments", "apps/v1")
