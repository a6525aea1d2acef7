"""The page that creates objects from YAML, and a user who may create some kinds of objects."""

import json
from dataclasses import dataclass

import pytest
import yaml

from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.grants import Grants, rule
from tests.contract.objects import path, unique
from tests.contract.pages import join
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

URL = "/clusters/host/import"


@dataclass(frozen=True)
class Desk:
    """A user who creates objects, and a project."""

    admin: Client
    namespace: str
    who: str

    async def page(self, step: str, text: str, **more: str) -> tuple[int, str]:
        data = {"text": text, "namespace": self.namespace, "step": step, **more}
        response = await ClientAs()(self.who).post(URL, data)
        return response.status_code, await text_of(response)

    async def send(self, step: str, *objects: Obj | str, **more: str) -> tuple[int, list[Obj]]:
        """Return the status code and the items of the response, one per object."""
        texts = [one if isinstance(one, str) else text_for(one) for one in objects]
        data = {
            "text": "---\n".join(texts), "namespace": self.namespace, "step": step, **more
        }  # fmt: skip
        response = await ClientAs()(self.who, Accept="application/json").post(URL, data)
        answer = json.loads(response.content)
        return response.status_code, answer.get("items", [answer])

    def path(self, plural: str, name: str = "", group: str = "") -> str:
        return path(self.namespace, plural, name, group=group)


def desk_of(
    monkeypatch: pytest.MonkeyPatch, admin: Client, namespace: str, shown: FakeAccess
) -> Desk:
    who = shown.identity.name
    monkeypatch.setitem(VIEWERS, who, lambda: shown)
    return Desk(admin, namespace, who)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, admin: Client, namespace: str, cleanup: Cleanup) -> Desk:
    """A user with permission to create some kinds of objects in one project."""
    who, where = unique("editor"), {namespace}
    kinds = "configmaps secrets services serviceaccounts persistentvolumeclaims"
    rights = (
        rule("create delete get patch", kinds),
        rule("create delete get patch", "deployments", "apps"),
        rule("create delete get", "jobs cronjobs", "batch"),
        rule("create delete get", "ingresses", "networking.k8s.io"),
    )
    shown = FakeAccess(who, list_in=where, delete_in=where, get_in=where)
    join(shown, Grants(cleanup, namespace).team(*rights, here=True))
    return desk_of(monkeypatch, admin, namespace, shown)


def text_for(obj: Obj) -> str:
    """Return YAML without the aliases that PyYAML writes for repeated values."""
    return yaml.safe_dump(json.loads(json.dumps(obj)))
