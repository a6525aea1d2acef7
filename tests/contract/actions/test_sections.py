"""Actions that open a section of the form that edits an object."""

import html
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from console.history.models import ObjectChange
from console.kube.gvr import Key
from console.kube.runtime import Runtime
from console.ui.core.actions import EditSection
from console.ui.core.links import detail_url, edit_form_url
from console.ui.core.registry import kinds
from console.ui.wizard.paths import remove_at, write_at
from tests.contract.action_cases import collection, kind_of, make
from tests.contract.cleanup import Cleanup
from tests.contract.client import JSON_PATCH, MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster, Kubectl
from tests.contract.comparison import comparable
from tests.contract.grants import rule
from tests.contract.pages import (
    Person,
    console_on,
    kubectl_line,
    person,
    recorded,
    refused_to_strangers,
)
from tests.contract.section_cases import CASES, GONE, SectionCase
from tests.contract.wizard_pages import WizardVisitor
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
BY_SECTION = {case.section: case for case in CASES}


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, list({case.gvr for case in CASES})) as found:
        yield found


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str) -> Person:
    return person(monkeypatch, cleanup, namespace, rule("get list patch", "*", "*"))


def where(case: SectionCase, made: Obj) -> str:
    meta = made["metadata"]
    return f"{collection(case.gvr, meta.get('namespace', ''))}/{meta['name']}"


def path_of(text: str) -> tuple[str | int, ...]:
    return tuple(int(one) if one.isdigit() else one for one in text.split("."))


def changed(case: SectionCase, made: Obj) -> Any:
    """Return the object with the expected changes."""
    found = deepcopy(made)
    for text, value in case.expected.items():
        path = path_of(text)
        if value is GONE:
            remove_at(found, path)
        elif path[-1] == len(items := _parent(found, path)) and isinstance(items, list):
            items.append(value)
        else:
            write_at(found, path, value)
    return found


def _parent(tree: Any, path: tuple[str | int, ...]) -> Any:
    for step in path[:-1]:
        tree = tree.get(step, {}) if isinstance(tree, dict) else tree[step]
    return tree


async def fill_in(editor: Person, case: SectionCase, made: Obj) -> WizardVisitor:
    """Open the section and type the values of the case."""
    meta, visitor = made["metadata"], WizardVisitor(editor.name)
    key = Key(meta.get("namespace", ""), meta["name"])
    await visitor.open(detail_url("host", case.gvr.resource, key))
    url = edit_form_url("host", case.gvr.resource, key, case.section)
    assert f'href="{url}"' in visitor.html
    # The URL of older versions.
    await visitor.open(editor.on(case.section, case.gvr.resource, made).url)
    assert visitor.url == url and visitor.status == 200, visitor.main
    for act, values in case.acts:
        await visitor.press(act, **values)
    return visitor


def patch_rival(admin: Client, case: SectionCase, made: Obj) -> None:
    """Change the first field of the case to another value."""
    pointer = "/" + next(iter(case.expected)).replace(".", "/")
    change = {"op": "replace", "path": pointer, "value": case.rival}
    admin.patch(where(case, made), [change], JSON_PATCH).ok()


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_section_changes_only_its_fields_like_its_kubectl_command(
    admin: Client,
    runtime: Runtime,
    cleanup: Cleanup,
    namespace: str,
    editor: Person,
    kubectl: Kubectl,
    case: SectionCase,
) -> None:
    made, twin = (make(runtime, cleanup, case.gvr, case.body, namespace) for _ in range(2))
    name = made["metadata"]["name"]
    visitor = await fill_in(editor, case, made)
    await visitor.press("next", **case.typed)
    assert "/review" in visitor.url and "Changes to save" in visitor.html, visitor.main
    line = kubectl_line(visitor.html)
    assert line.startswith(case.command)
    assert comparable(admin.get(where(case, made)).ok(), name) == comparable(made, name)
    assert await recorded() == []
    await visitor.press("save")
    assert visitor.url.endswith(f"/{case.gvr.resource}/{name}") and visitor.status == 200
    found = comparable(admin.get(where(case, made)).ok(), name)
    assert found == comparable(changed(case, made), name)
    assert await recorded() == [(editor.name, "patch", case.section, name, 200)]
    assert await ObjectChange.objects.acount() == 1
    twin_name = twin["metadata"]["name"]
    kubectl.line(line.replace(name, twin_name))
    assert comparable(admin.get(where(case, twin)).ok(), twin_name) == found


@pytest.mark.parametrize("case", BY_SECTION.values(), ids=str)
async def test_concurrent_changes_of_other_fields_are_merged(
    admin: Client,
    runtime: Runtime,
    cleanup: Cleanup,
    namespace: str,
    editor: Person,
    case: SectionCase,
) -> None:
    made = make(runtime, cleanup, case.gvr, case.body, namespace)
    name = made["metadata"]["name"]
    visitor = await fill_in(editor, case, made)
    note = {"metadata": {"annotations": {"example.com/note": "theirs"}}}
    admin.patch(where(case, made), note, MERGE_PATCH).ok()
    await visitor.press("next", **case.typed)
    await visitor.press("save")
    found = admin.get(where(case, made)).ok()
    assert found["metadata"]["annotations"]["example.com/note"] == "theirs"
    assert comparable(found, name)["spec"] == comparable(changed(case, made), name)["spec"]


@pytest.mark.parametrize("side", ["mine", "theirs", "original"])
@pytest.mark.parametrize("case", BY_SECTION.values(), ids=str)
async def test_a_conflict_is_resolved_by_choosing_a_value(
    admin: Client,
    runtime: Runtime,
    cleanup: Cleanup,
    namespace: str,
    editor: Person,
    case: SectionCase,
    side: str,
) -> None:
    made = make(runtime, cleanup, case.gvr, case.body, namespace)
    visitor = await fill_in(editor, case, made)
    patch_rival(admin, case, made)
    await visitor.press("next", **case.typed)
    assert visitor.status == 409 and "Original value:" in visitor.html, visitor.main
    radios = dict.fromkeys(re.findall(r'type="radio" name="(conflict-[^"]+)"', visitor.html))
    await visitor.press("review", **dict.fromkeys(radios, side))
    assert visitor.status == 200, visitor.main
    if "No changes." not in visitor.html:
        await visitor.press("save")
    expected = changed(case, made)
    path = path_of(next(iter(case.expected)))
    sides = {"mine": expected, "theirs": {}, "original": made}
    found = admin.get(where(case, made)).ok()
    wanted = case.rival if side == "theirs" else _value(sides[side], path)
    assert _value(found, path) == wanted


def _value(tree: Any, path: tuple[str | int, ...]) -> Any:
    return _parent(tree, path)[path[-1]]


@pytest.mark.parametrize("case", BY_SECTION.values(), ids=str)
async def test_wrong_values_are_reported_at_the_field_and_kept(
    admin: Client,
    runtime: Runtime,
    cleanup: Cleanup,
    namespace: str,
    editor: Person,
    case: SectionCase,
) -> None:
    made = make(runtime, cleanup, case.gvr, case.body, namespace)
    visitor = await fill_in(editor, case, made)
    field, value, message = case.wrong
    await visitor.press("next", **{**case.typed, field: value})
    shown = html.unescape(visitor.html)
    assert message in shown and f'href="#w-{field.replace(".", "-")}"' in shown, visitor.main
    assert "/review" not in visitor.url and visitor.fields[field] == value
    await visitor.press("go.review")
    assert "No changes." not in visitor.html
    assert admin.get(where(case, made)).ok()["spec"] == made["spec"]
    assert await recorded() == []


@pytest.mark.parametrize("case", BY_SECTION.values(), ids=str)
async def test_sections_are_refused_without_permission(
    runtime: Runtime, cleanup: Cleanup, namespace: str, editor: Person, case: SectionCase
) -> None:
    made = make(runtime, cleanup, case.gvr, case.body, namespace)
    await refused_to_strangers(editor.on(case.section, case.gvr.resource, made), "")
    key = Key(made["metadata"].get("namespace", ""), made["metadata"]["name"])
    for who in ("charlie", "bob"):
        visitor = WizardVisitor(who)
        await visitor.open(edit_form_url("host", case.gvr.resource, key, case.section))
        assert visitor.status == 403


async def test_values_that_the_cluster_refuses_are_reported_at_the_field(
    admin: Client, runtime: Runtime, cleanup: Cleanup, namespace: str, editor: Person
) -> None:
    case = BY_SECTION["environment"]
    made = make(runtime, cleanup, case.gvr, case.body, namespace)
    visitor = await fill_in(editor, case, made)
    await visitor.press("next", **{"containers.0.env.0.name": "a=b"})
    shown = html.unescape(visitor.html)
    assert visitor.status == 422 and 'href="#w-containers-0-env-0-name"' in shown, visitor.main
    await visitor.press("next", **{"containers.0.env.0.name": "SPEED"})
    assert "Changes to save" in visitor.html, visitor.main
    await visitor.press("edit")
    assert visitor.fields["containers.0.env.0.name"] == "SPEED"
    assert admin.get(where(case, made)).ok()["spec"] == made["spec"]


async def test_a_recreated_object_is_not_changed(
    admin: Client, runtime: Runtime, cleanup: Cleanup, namespace: str, editor: Person
) -> None:
    case = BY_SECTION["set-image"]
    made = make(runtime, cleanup, case.gvr, case.body, namespace)
    visitor = await fill_in(editor, case, made)
    admin.delete(where(case, made)).ok()
    again = deepcopy(case.body)
    again["metadata"] = {"name": made["metadata"]["name"]}
    made = admin.post(collection(case.gvr, namespace), again).ok()
    await visitor.press("next", **case.typed)
    assert visitor.status == 409 and "was replaced by another object" in visitor.html
    assert visitor.fields["containers.0.image"] == case.typed["containers.0.image"]
    assert admin.get(where(case, made)).ok()["spec"] == made["spec"]


async def test_fields_that_the_form_cannot_show_are_listed_and_kept(
    runtime: Runtime, cleanup: Cleanup, namespace: str, editor: Person
) -> None:
    case = BY_SECTION["probes"]
    visitor = await fill_in(editor, case, make(runtime, cleanup, case.gvr, case.body, namespace))
    shown = html.unescape(visitor.html)
    assert "spec.template.spec.containers[0].readinessProbe.httpGet.httpHeaders[0].name" in shown
    await visitor.press("go.yaml")
    assert "X-Probe" in visitor.html
    await visitor.press("back")
    assert visitor.fields["containers.0.readinessProbe.httpGet.path"] == "/ready"


def test_every_section_is_tested_and_declared() -> None:
    offered = {
        (kind.gvr, action.name)
        for kind in kinds
        for action in kind.actions
        if isinstance(action, EditSection)
    }
    assert {name for _gvr, name in offered} == {*BY_SECTION}
    for gvr, name in offered:
        wizard = kind_of(gvr).wizard
        assert wizard is not None and wizard.of_section(name) is not None, (gvr, name)
