"""The default image pull secret of a project."""

import base64
import html
import json
import re
from collections.abc import Iterator

import pytest

from console.kube.gvr import SERVICE_ACCOUNTS, Key
from console.kube.runtime import Runtime
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster, Kubectl
from tests.contract.grants import rule
from tests.contract.objects import path, secret, unique
from tests.contract.pages import Person, console_on, known, person, recorded, refused_to_strangers
from tests.controlplane.waiting import eventually
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [SERVICE_ACCOUNTS]) as found:
        yield found


@pytest.fixture
def editor(
    monkeypatch: pytest.MonkeyPatch, runtime: Runtime, cleanup: Cleanup, namespace: str
) -> Person:
    return person(
        monkeypatch,
        cleanup,
        namespace,
        rule("get list watch", "secrets"),
        rule("get list patch", "serviceaccounts"),
    )


def registry(admin: Client, namespace: str) -> Obj:
    content = base64.b64encode(json.dumps({"auths": {}}).encode()).decode()
    body = secret(unique("registry"))
    body |= {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": content}}
    body.pop("stringData")
    made: Obj = admin.post(path(namespace, "secrets"), body).ok()
    return made


def account(admin: Client, namespace: str) -> str:
    """Wait for the default service account of the namespace and return its path."""
    where = path(namespace, "serviceaccounts", "default")
    eventually(lambda: admin.get(where).status == 200, "there is a service account")
    return where


def pulled_with(admin: Client, where: str) -> list[str]:
    return [one["name"] for one in admin.get(where).ok().get("imagePullSecrets", ())]


async def test_the_default_pull_secret_is_added_to_existing_ones(
    admin: Client, runtime: Runtime, empty_namespace: str, editor: Person, kubectl: Kubectl
) -> None:
    where = account(admin, empty_namespace)
    older = {"imagePullSecrets": [{"name": "older"}]}
    known(runtime, SERVICE_ACCOUNTS, admin.patch(where, older, MERGE_PATCH).ok())
    one, other = (registry(admin, empty_namespace) for _ in range(2))
    name = one["metadata"]["name"]
    page = editor.on("default-registry", "secrets", one)
    assert await page.is_offered("secrets", Key(empty_namespace, name))
    asked = html.unescape(await page.asks())
    await page.does()
    await page.does()
    assert pulled_with(admin, where) == ["older", name]
    assert await recorded() == [(editor.name, "patch", "default-registry", name, 200)] * 2
    line = re.search(r"<code>(kubectl patch .*?)</code>", asked)
    assert line is not None
    kubectl.line(line[1].replace(name, other["metadata"]["name"]))
    assert pulled_with(admin, where) == ["older", other["metadata"]["name"]]


async def test_other_secrets_cannot_be_the_default_pull_secret(
    admin: Client, namespace: str, editor: Person
) -> None:
    made = admin.post(path(namespace, "secrets"), secret(unique("plain"), a="b")).ok()
    page = editor.on("default-registry", "secrets", made)
    assert not await page.is_offered("secrets", Key(namespace, made["metadata"]["name"]))
    said = html.unescape(await page.refuses(409))
    assert "The current state of the object doesn't allow this action." in said


async def test_users_without_permission_cannot_set_the_default_pull_secret(
    admin: Client, namespace: str, editor: Person
) -> None:
    where, made = account(admin, namespace), registry(admin, namespace)
    page = editor.on("default-registry", "secrets", made)
    await refused_to_strangers(page, "")
    other = type(page)(page.who, page.url, "another")
    assert (await other.status())["code"] == 409
    assert made["metadata"]["name"] not in pulled_with(admin, where)
