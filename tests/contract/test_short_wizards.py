"""Wizards with one step create what an expert would write: with the form alone, by way of YAML, and
when an existing object is edited.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile

from console.kube.gvr import NETWORK_POLICIES
from console.wizards.uploads import MAX_BYTES
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client
from tests.contract.console import _runtime, runtime
from tests.contract.grants import Grants, rule
from tests.contract.import_pages import Desk, desk_of
from tests.contract.objects import unique
from tests.contract.pages import join
from tests.contract.wizard_pages import WizardVisitor
from tests.ui.support import FakeAccess
from tests.views.conftest import _site

__all__ = ["_runtime", "_site", "runtime"]

pytestmark = pytest.mark.django_db(transaction=True)
NETWORKING = "networking.k8s.io/v1"
_RULE = "types__ingress__ingress__0"
_PEERS = f"{_RULE}__from"


@dataclass(frozen=True)
class Case:
    """A wizard and what a user enters.

    - `pages`: the button that submits the fields of each page, and the fields.
    - `expected`: the manifest of an expert, without type and metadata.
    - `wrong`: a field, a value that is reported, and the message.
    - `change`: a field of the existing object, and a text in the review of the change.
    """

    plural: str
    group: str
    kind: str
    pages: Sequence[tuple[str, dict[str, str]]]
    expected: dict[str, Any]
    wrong: tuple[str, str, str]
    change: tuple[str, str, str]


CASES = [
    Case(
        plural=NETWORK_POLICIES.resource,
        group=NETWORKING,
        kind="NetworkPolicy",
        pages=[
            (
                f"act.{_PEERS.replace('__', '.')}.add",
                {"podSelector": "app=api, tier in (a, b)", "types": "ingress"},
            ),
            (f"act.{_RULE.replace('__', '.')}.ports.add", {f"{_PEERS}__1__kind": "block"}),
            (
                "go.form",
                {
                    f"{_PEERS}__0__kind__pods__pods": "app=web",
                    f"{_PEERS}__1__kind__block__cidr": "10.0.0.0/8",
                    f"{_PEERS}__1__kind__block__except": "10.1.0.0/16",
                    f"{_RULE}__ports__0__port": "http",
                },
            ),
        ],
        expected={
            "spec": {
                "podSelector": {
                    "matchLabels": {"app": "api"},
                    "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}],
                },
                "policyTypes": ["Ingress"],
                "ingress": [
                    {
                        "from": [
                            {"podSelector": {"matchLabels": {"app": "web"}}},
                            {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}},
                        ],
                        "ports": [{"port": "http"}],
                    }
                ],
            }
        },
        wrong=(f"{_PEERS}__1__kind__block__except", "192.168.0.0/16", "is not inside 10.0.0.0/8."),
        change=(f"{_RULE}__ports__0__port", "8080", "8080"),
    ),
]
IDS = [one.kind for one in CASES]


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, admin: Client, namespace: str, cleanup: Cleanup) -> Desk:
    """A user who may create objects of all kinds in one project."""
    who, where = unique("editor"), {namespace}
    shown = FakeAccess(who, list_in=where, delete_in=where, get_in=where)
    every = rule("create delete get list patch", "*", "*")
    join(shown, Grants(cleanup, namespace).team(every, here=True))
    return desk_of(monkeypatch, admin, namespace, shown)


async def filled_in(desk: Desk, case: Case, name: str) -> WizardVisitor:
    """Open the wizard and fill in its fields."""
    visitor = WizardVisitor(desk.who)
    await visitor.open(f"/clusters/host/new/{case.plural}?namespace={desk.namespace}")
    for button, values in case.pages:
        await visitor.press(button, **{"name": name, **values})
    return visitor


def by_expert(desk: Desk, case: Case) -> dict[str, Any]:
    """Create the manifest of an expert, and return what the server stored."""
    head = {"apiVersion": case.group, "kind": case.kind, "metadata": {"name": unique("expert")}}
    path = desk.path(case.plural, group=case.group)
    return content(desk.admin.post(path, {**head, **case.expected}).ok())


def content(found: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key not in ("metadata", "status")}


@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.parametrize("by_yaml", [False, True], ids=["form", "yaml"])
async def test_an_object_is_created_as_an_expert_would_write_it(
    desk: Desk, case: Case, by_yaml: bool
) -> None:
    name = unique("wizard")
    visitor = await filled_in(desk, case, name)
    if by_yaml:
        await visitor.press("go.yaml")
        [manifest] = yaml.safe_load_all(visitor.fields["manifest"])
        await visitor.press("back", manifest=yaml.safe_dump(manifest))
    await visitor.press("go.review")
    assert "Can be created" in visitor.html, visitor.html
    await visitor.press("create")
    assert "Objects created" in visitor.html, visitor.html
    made = desk.admin.get(desk.path(case.plural, name, case.group)).ok()
    assert content(made) == by_expert(desk, case)


@pytest.mark.parametrize("case", CASES, ids=IDS)
async def test_a_wrong_value_is_reported_at_its_field_and_kept(desk: Desk, case: Case) -> None:
    visitor = await filled_in(desk, case, unique("wizard"))
    field, value, problem = case.wrong
    await visitor.press("next", **{field: value})
    name = field.replace("__", ".")
    error = f'id="w-{name.replace(".", "-")}-error"'
    assert problem in visitor.html.partition(error)[2][:2000], visitor.html
    assert visitor.fields[name] == value


@pytest.mark.parametrize("case", CASES, ids=IDS)
async def test_an_existing_object_is_edited_with_the_same_fields(desk: Desk, case: Case) -> None:
    name = unique("wizard")
    visitor = await filled_in(desk, case, name)
    await visitor.press("go.review")
    await visitor.press("create")
    await visitor.open(f"/clusters/host/projects/{desk.namespace}/{case.plural}/{name}/edit/form")
    field, value, changed = case.change
    await visitor.press("go.review", **{field: value})
    assert "<ins>" in visitor.html and changed in visitor.html, visitor.html


async def test_files_become_values_of_a_config_map(desk: Desk) -> None:
    name, visitor = unique("wizard"), WizardVisitor(desk.who)
    await visitor.open(f"/clusters/host/new/configmaps?namespace={desk.namespace}")
    files = [
        SimpleUploadedFile("app.conf", b"a = 1\n"),
        SimpleUploadedFile("logo.png", b"\x89\xff"),
    ]
    await visitor.press("act.files.add", name=name, files=files)
    assert visitor.fields["data.0.value"].strip() == "a = 1" and "logo.png" in visitor.html
    large = SimpleUploadedFile("large", bytes(MAX_BYTES))
    await visitor.press("act.files.add", files=[large])
    assert "Nothing was added" in visitor.html and visitor.fields["name"] == name
    await visitor.press("go.review")
    await visitor.press("create")
    made = desk.admin.get(desk.path("configmaps", name)).ok()
    assert (made["data"], made["binaryData"]) == ({"app.conf": "a = 1\n"}, {"logo.png": "if8="})
