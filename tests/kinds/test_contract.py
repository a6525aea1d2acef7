"""The contract of list pages, checked for each registered kind. A kind only needs a fixture."""

from html import unescape
from typing import Any

import pytest
from django.urls import reverse
from django.utils import translation
from pytest_django import Settings

from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.actions import ROW, Link
from console.ui.core.kind import ResourceKind
from console.ui.core.registry import kinds
from console.ui.core.words import STATUS_WORDS
from console.ui.lists.filters import ChoiceFilter, FieldFilter, Filter
from tests.kinds.list_requests import entries_of, ids_of, items, keys, rows_of, url_of
from tests.kinds.untranslated_text import untranslated
from tests.kinds.world import FIXTURES, fixture_file, fixture_of
from tests.support.depth import some
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.views.conftest import ClientAs


def test_every_kind_has_a_fixture_and_every_fixture_a_kind() -> None:
    assert {fixture_file(kind) for kind in kinds} == set(FIXTURES.glob("*.yaml"))


def test_fixture_has_several_objects(kind: ResourceKind) -> None:
    assert len(fixture_of(kind)) >= 3


async def test_list_shows_all_objects(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    entries = entries_of(runtime, kind)
    assert len(entries) == len(fixture_of(kind)) + 3
    response = await client_as("admin").get(url_of(kind, "limit=500"))
    assert response.status_code == 200
    html = await text_of(response)
    assert set(rows_of(html)) == ids_of(kind, entries)
    assert f'data-total="{len(entries)}"' in html


async def test_tenant_input_is_escaped(client_as: ClientAs, kind: ResourceKind) -> None:
    client = client_as("admin", **{"Accept-Language": "zh-hans"})
    html = await text_of(await client.get(url_of(kind, "limit=500")))
    assert "<img" not in html
    assert "\u202e" not in html
    assert untranslated(html) == []


@pytest.mark.sampled
async def test_list_is_forbidden_without_permission(
    client_as: ClientAs, kind: ResourceKind
) -> None:
    name = fixture_of(kind)[0]["metadata"]["name"]
    for query in ("", "format=json", "format=csv", "format=tsv", "limit=abc"):
        response = await client_as("charlie").get(url_of(kind, query))
        assert response.status_code == 403
        assert f'"{name}"' not in await text_of(response)


@pytest.mark.sampled
async def test_anonymous_users_are_redirected_to_sign_in(
    client_as: ClientAs, kind: ResourceKind
) -> None:
    response = await client_as("").get(url_of(kind))
    assert response.status_code == 302
    assert response["Location"].startswith(reverse("accounts:login"))


async def test_each_sort_is_total_and_stable(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    """Ties are sorted by name in both directions, and repeated requests return the same order."""
    for column in kind.sortable.values():
        for descending in (False, True):
            expected = sorted(entries_of(runtime, kind), key=column.sort_key, reverse=descending)
            sort = f"-{column.id}" if descending else column.id
            found = keys(await items(client_as, kind, sort=sort))
            assert found == [tuple(entry.key) for entry in expected], sort
            assert found == keys(await items(client_as, kind, sort=sort)), sort


async def test_default_sort_is_by_severity(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    """Except for kinds that declare their own order."""
    found = await items(client_as, kind)
    if not kind.default_sort:
        assert found == sorted(found, key=lambda item: (item["name"], item["namespace"]))
    elif kind.status_column is not None and kind.default_sort == kind.status_column.id:
        ranks = [Severity(item["status"]["severity"]).rank for item in found]
        assert ranks == sorted(ranks)
    else:
        by_column = sorted(entries_of(runtime, kind), key=kind.sortable[kind.default_sort].sort_key)
        assert keys(found) == [tuple(entry.key) for entry in by_column]


def samples(
    declared: Filter, kind: ResourceKind, entries: list[Entry[Any]]
) -> dict[str, set[tuple[str, str]]]:
    """Return values for a filter, each with the objects that match it."""
    found: dict[str, set[tuple[str, str]]] = {}
    for entry in entries:
        for value in _values(declared, kind, entry):
            found.setdefault(value, set()).add((entry.key.namespace, entry.key.name))
    return {value: keys for value, keys in found.items() if _writable(value, declared)}


def _values(declared: Filter, kind: ResourceKind, entry: Entry[Any]) -> set[str]:
    match declared.param:
        case "namespace":
            return {entry.key.namespace}
        case "label":
            return {f"{name}={value}" for name, value in entry.projection.labels.items()}
        case "status":
            status = kind.status(entry)
            return {status.severity.value} if status else set()
    if isinstance(declared, FieldFilter):
        return set(declared.get(entry.projection))
    if isinstance(declared, ChoiceFilter):
        known = {value for value, _name in declared.choices}
        return {declared.get(entry.projection)} & known
    return set()


def _writable(value: str, declared: Filter) -> bool:
    return value.isprintable() and value == value.strip() and 0 < len(value) <= declared.max_length


async def test_each_filter_returns_the_matching_objects(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    entries = entries_of(runtime, kind)
    for declared in kind.every_filter:
        for value, expected in samples(declared, kind, entries).items():
            found = keys(await items(client_as, kind, **{declared.param: value}))
            assert set(found) == expected, (declared.param, value)
            assert len(found) == len(expected)


@pytest.mark.sampled
async def test_every_object_is_found_by_its_name(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    for entry in entries_of(runtime, kind):
        found = keys(await items(client_as, kind, q=entry.key.name[:200]))
        assert tuple(entry.key) in found


async def test_no_filter_fails_on_invalid_input(client_as: ClientAs, kind: ResourceKind) -> None:
    nonsense = ("zzz-no-such", "=1+1", "%00", "%ed%a0%80", "a,b,c", "x" * 5000)
    for declared in kind.every_filter:
        for value in some(kind.segment + declared.param, nonsense, 1):
            response = await client_as("admin").get(url_of(kind, f"{declared.param}={value}"))
            assert response.status_code in (200, 400), (declared.param, value)


async def test_forbidden_actions_are_not_offered(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime, settings: Settings
) -> None:
    settings.NODE_SHELL_NAMESPACE = "shop"
    offered = unescape(await text_of(await client_as("admin").get(url_of(kind))))
    refused = unescape(await text_of(await client_as("bob").get(url_of(kind))))
    # Both check the same permission; the effect of the second could not be undone.
    asked = some(kind.segment, kind.every_action, 2)
    for action in kind.every_action:
        urls = [action.url("host", kind.segment, entry.key) for entry in entries_of(runtime, kind)]
        there = [url for url in urls if f'="{url}"' in offered]
        assert bool(there) is (ROW in action.places), action.name
        assert not [url for url in urls if f'="{url}"' in refused]
        if action in asked:
            assert (await client_as("bob").get(urls[0])).status_code == 403
        if not isinstance(action, Link):
            assert (await client_as("bob").post(urls[0], {"uid": "x"})).status_code == 403


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_delete_warnings_are_sentences(
    kind: ResourceKind, runtime: StaticRuntime, language: str
) -> None:
    with translation.override(language):
        for entry in entries_of(runtime, kind):
            for label, value in kind.facts(entry):
                assert str(label).strip(), entry.key
                assert str(value).strip() and str(value).isprintable(), entry.key


def test_every_status_word_is_in_the_catalog(kind: ResourceKind, runtime: StaticRuntime) -> None:
    statuses = [kind.status(entry) for entry in entries_of(runtime, kind)]
    assert {status.word for status in statuses if status} <= STATUS_WORDS
