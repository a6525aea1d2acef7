"""The version in which the console shows custom resources, and the versions of a definition."""

from collections.abc import Iterator

import pytest

from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS
from console.kube.runtime import Runtime
from console.ui.core.clusters import clusters
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.crds import definition, establish
from tests.contract.grants import rule
from tests.contract.objects import CRDS
from tests.contract.pages import console_on, person
from tests.controlplane.waiting import eventually
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

ANYTHING: Obj = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def version(name: str, column: str, **fields: object) -> Obj:
    return {
        "name": name,
        "served": True,
        "storage": False,
        "schema": {"openAPIV3Schema": ANYTHING},
        "additionalPrinterColumns": [{"name": column, "type": "string", "jsonPath": ".spec.c"}],
        **fields,
    }


OLD = version(
    "v1beta1", "BetaOnly", storage=True, deprecated=True, deprecationWarning="old <b>; use v1"
)
NEW = version("v1", "VOneOnly")


@pytest.fixture
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [CUSTOM_RESOURCE_DEFINITIONS]) as runtime:
        yield runtime


def column_ids(crd: Obj) -> list[str]:
    kind = clusters.host.kinds.find(crd["metadata"]["name"])
    return [column.id for column in kind.columns] if kind is not None else []


async def page(url: str, who: str = "admin") -> str:
    answer = await ClientAs()(who).get(url)
    text = await text_of(answer)
    assert answer.status_code == 200, text
    return text


@pytest.mark.django_db(transaction=True)
async def test_objects_are_shown_and_edited_in_the_preferred_version_not_the_stored_one(
    runtime: Runtime,
    admin: Client,
    cleanup: Cleanup,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    who = person(monkeypatch, cleanup, namespace, rule("*", "*", "*")).name
    crd = definition()
    crd["spec"]["versions"] = [OLD, NEW]
    where = establish(admin, cleanup, crd, namespace)
    group, name = crd["spec"]["group"], crd["metadata"]["name"]
    body = {
        "apiVersion": f"{group}/v1",
        "kind": "Widget",
        "metadata": {"name": "w"},
        "spec": {"c": "x"},
    }
    admin.post(where, body).ok()
    eventually(lambda: "voneonly" in column_ids(crd), "the definition is known")
    assert "betaonly" not in column_ids(crd)
    here = f"/clusters/host/projects/{namespace}/{name}/w"
    assert f"apiVersion: {group}/v1\n" in await page(f"{here}?format=yaml")
    editor = await page(f"{here}/edit", who)
    assert f"apiVersion: {group}/v1\n" in editor and "v1beta1" not in editor


async def test_change_of_the_served_versions_changes_the_shown_version(
    runtime: Runtime, admin: Client, cleanup: Cleanup, namespace: str
) -> None:
    crd = definition()
    crd["spec"]["versions"] = [OLD]
    cleanup.create(CRDS, crd)
    name = crd["metadata"]["name"]
    eventually(lambda: "betaonly" in column_ids(crd), "the definition is known")
    found = admin.get(f"{CRDS}/{name}").ok()
    found["spec"]["versions"].append(NEW)
    admin.put(f"{CRDS}/{name}", found).ok()
    eventually(lambda: "voneonly" in column_ids(crd), "the new version is preferred")
    found = admin.get(f"{CRDS}/{name}").ok()
    found["spec"]["versions"][1]["served"] = False
    admin.put(f"{CRDS}/{name}", found).ok()
    eventually(lambda: "betaonly" in column_ids(crd), "the other version is not served anymore")


async def test_page_of_a_definition_lists_its_versions(
    runtime: Runtime, admin: Client, cleanup: Cleanup, namespace: str
) -> None:
    crd = definition()
    crd["spec"]["versions"] = [OLD, NEW, version("v2", "Two", served=False)]
    cleanup.create(CRDS, crd)
    name = crd["metadata"]["name"]
    eventually(lambda: "voneonly" in column_ids(crd), "the definition is known")
    html = await page(f"/clusters/host/customresourcedefinitions/{name}")
    rows = html.partition('aria-label="Versions"')[2].partition("</table>")[0].split("<tr>")[2:]
    cells = [[cell.partition(">")[2] for cell in row.split("<td")[1:]] for row in rows]
    shown = [tuple(cell.partition("<")[0] for cell in row) for row in cells]
    assert ["v2" in rows[0], "v1</code>" in rows[1], "v1beta1" in rows[2]] == [True] * 3
    assert shown == [
        ("No", "No", "No"),
        ("Yes", "No", "No"),
        ("Yes", "Yes", "old &lt;b&gt;; use v1"),
    ]
    assert "preferred" in rows[1] and "Conversion strategy: None" in html
