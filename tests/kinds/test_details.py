"""The contract of object pages, checked for all objects of each registered kind."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote

import pytest
import yaml
from django.template.loader import get_template
from django.urls import reverse

from console.kube.gvr import WORKSPACE_TEMPLATES, WORKSPACES, Key
from console.kube.store import Entry
from console.live.detailview import DetailView
from console.live.mailbox import Mail
from console.live.view import ClientState
from console.ui.core.kind import ResourceKind
from console.ui.core.links import detail_url, object_url
from console.ui.core.object_source import open_source
from console.ui.details.detail import start_informers
from console.ui.details.panels.standard import tabs_of
from console.ui.lists.columns import NameColumn, StatusColumn
from console.ui.navigation.page_routes import DetailRoute, resolve_page
from devcluster.builtins import builtin_types
from tests.kinds.list_requests import addresses, entries_of, rows_of, url_of
from tests.kinds.untranslated_text import untranslated
from tests.kinds.world import LONG_NAME, fixture_of
from tests.support.audit_ranges import without_range
from tests.support.depth import some
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import admin
from tests.views.conftest import ClientAs

_PART = re.compile(r'<(div|header|section) id="([^"]+)"[^>]*\bdata-part data-v="([^"]+)"')
#: Parts of a page that depend on the request: the token, the time and the return URL of its forms.
_OWN = re.compile(r"""(value|hx-headers|data-now)=("[^"]*"|'[^']*')""")
_AGES = re.compile(r"(<time [^>]*>)[^<]*")


def parts_of(html: str) -> dict[str, str]:
    """Return the signature of each part by its ID."""
    return {found[2]: found[3] for found in _PART.finditer(html)}


def settled(html: str) -> str:
    """Return the page without the parts that depend on the clock."""
    return without_range(_AGES.sub(r"\1", html))


async def fragment(client_as: ClientAs, url: str) -> str:
    response = await client_as("admin", **{"HX-Request": "true"}).get(url)
    assert response.status_code == 200
    return await text_of(response)


def test_kind_name_is_the_one_of_kubernetes(kind: ResourceKind) -> None:
    """Items of a list don't contain their kind, so the declaration defines it."""
    known = {(one.group, one.plural): one.kind for one in builtin_types()}
    expected = known.get((kind.gvr.group, kind.gvr.resource))
    plurals = {f"{kind.api_kind.lower()}{end}" for end in ("s", "es")}
    assert kind.api_kind == expected if expected else kind.gvr.resource in plurals


def test_every_column_has_a_template_for_the_object_page(kind: ResourceKind) -> None:
    for column in kind.columns:
        if not isinstance(column, NameColumn | StatusColumn):
            get_template(column.template.replace("/cells/", "/values/"))


def in_some_tabs(kind: ResourceKind, entries: list[Entry[Any]]) -> Iterator[tuple[Entry[Any], str]]:
    """In the gate, return four objects with their first tab and one object with each other tab,
    varying by tab.
    """
    for number, tab in enumerate(tabs_of(kind)):
        shown = some(kind.segment + tab.id, entries, 1 if number else 4)
        # The hostile object is tested with each tab.
        worst = [entry for entry in entries if entry.key.name == LONG_NAME]
        for entry in {entry.key: entry for entry in (*shown, *worst)}.values():
            yield entry, addresses(kind, entry.key)[number]


@pytest.mark.django_db(transaction=True)
async def test_every_tab_of_every_object_renders(
    client_as: ClientAs,
    kind: ResourceKind,
    runtime: StaticRuntime,
    caplog: pytest.LogCaptureFixture,
) -> None:
    client = client_as("admin", **{"Accept-Language": "zh-hans"})
    for _entry, url in in_some_tabs(kind, entries_of(runtime, kind)):
        response = await client.get(url)
        html = await text_of(response)
        assert untranslated(html) == [], url
        assert response.status_code == 200, url
        assert 'id="detail-head"' in html
        assert f'data-url="{url}"' in html
        assert "<img" not in html
        assert "\u202e" not in html and "\x00" not in html
    # A failing panel shows and logs its error.
    assert caplog.records == []


@pytest.mark.sampled
@pytest.mark.django_db(transaction=True)
async def test_list_links_to_the_object_and_back(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    rows = rows_of(await text_of(await client_as("admin").get(url_of(kind, "limit=500"))))
    entries = entries_of(runtime, kind)
    linked = {
        url for row in rows.values() for url in re.findall(r'<a class="full" href="([^"]+)', row)
    }
    assert linked == {object_url("host", kind.segment, entry.key) for entry in entries}
    # Some objects redirect to a dedicated page, which other tests cover.
    first = min(entries, key=lambda entry: entry.key)
    html = await text_of(await client_as("admin").get(addresses(kind, first.key)[0]))
    up = re.search(r'href="([^"]+)" data-up', html)
    assert up is not None
    # The platform has its own list of workspaces.
    platform = kind.gvr in (WORKSPACES, WORKSPACE_TEMPLATES)
    assert up[1].startswith("/workspaces" if platform else url_of(kind))
    if not platform:
        assert (await client_as("admin").get(up[1])).status_code == 200


@pytest.mark.django_db(transaction=True)
async def test_page_fragment_and_frames_are_identical(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    """In the gate for the first tab and two others."""
    entries = entries_of(runtime, kind)
    for number in (0, *some(kind.segment, range(1, len(tabs_of(kind))), 2)):
        for entry in some(f"{kind.segment} {number}", entries, 1):
            url = addresses(kind, entry.key)[number]
            page = await text_of(await client_as("admin").get(url))
            part = await fragment(client_as, url)
            assert settled(part).strip() in settled(page)
            place = resolve_page(url)
            assert isinstance(place, DetailRoute)
            assert place.url == url
            with open_source(kind, admin(), place.namespaces) as informer:
                view = DetailView(place, "en", informer, start_informers(place.needs, admin()))
            assert view.update(Mail(), admin(), anew=True) == []
            assert view.client_state().rows == parts_of(page)
            # A client without content receives all parts as they are on the page.
            [frame] = view.catch_up(ClientState("old", {}), admin()) or []
            shown = settled(page)
            for piece in re.split(
                r"(?=<(?:div|header|section) id=\"[^\"]+\"[^>]*data-part)", frame
            ):
                assert settled(piece).strip() in shown


@pytest.mark.sampled
async def test_forbidden_and_missing_objects_look_identical(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    there = entries_of(runtime, kind)[0]
    missing = there.key._replace(name="no-such-thing")
    # Without a tab, the URL may redirect to another page, regardless of user and object.
    first = tabs_of(kind)[0].id if kind.page_url("host", missing) else ""
    tabs = dict.fromkeys((first, *(tab.id for tab in tabs_of(kind))))
    forms = [(tab, query) for tab in tabs for query in ("", "?format=json", "?format=yaml")]
    for tab, query in dict.fromkeys((forms[0], *some(kind.segment, forms, 3))):
        answers = []
        for key in (there.key, missing):
            url = detail_url("host", kind.segment, key, tab)
            response = await client_as("charlie").get(url + query)
            assert response.status_code == 403
            text = _OWN.sub("", await text_of(response))
            # The access request names the requested object.
            answers.append(text.replace(f"({quote(unquote(url))})", ""))
        assert answers[0] == answers[1]


@pytest.mark.sampled
async def test_missing_object_returns_404(client_as: ClientAs, kind: ResourceKind) -> None:
    namespace = fixture_of(kind)[0]["metadata"].get("namespace", "")
    base = f"/projects/{namespace}" if namespace else ""
    for url in (
        addresses(kind, Key(namespace, "no-such-thing"))[0],
        f"/clusters/host{base}/{kind.segment}/no-such-thing/yaml",
        f"/clusters/host{base}/{kind.segment}/no-such-thing?format=json",
        f"/clusters/host{base}/{kind.segment}/no-such-thing?format=yaml",
        f"/clusters/other{base}/{kind.segment}/no-such-thing/yaml",
    ):
        response = await client_as("admin").get(url)
        assert response.status_code == 404, url
    entry_name = fixture_of(kind)[0]["metadata"]["name"]
    response = await client_as("admin").get(
        f"/clusters/host{base}/{kind.segment}/{entry_name}/nope"
    )
    assert response.status_code == 404
    wrong = f"/clusters/host{'' if namespace else '/projects/shop'}/{kind.segment}/{entry_name}"
    assert (await client_as("admin").get(wrong)).status_code == 404


@pytest.mark.sampled
async def test_anonymous_users_are_redirected_to_sign_in(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    url = addresses(kind, entries_of(runtime, kind)[0].key)[0]
    response = await client_as("").get(url)
    assert response.status_code == 302
    assert response["Location"].startswith(reverse("accounts:login"))
    assert (await client_as("").get(f"{url}?format=json")).status_code == 401
    assert (await client_as("").get(f"{url}?format=yaml")).status_code == 401


async def test_json_equals_the_list_item_and_yaml_is_the_whole_object(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    listed = json.loads(await text_of(await client_as("admin").get(url_of(kind, "format=json"))))
    by_key = {(item["namespace"], item["name"]): item for item in listed["items"]}
    for entry in entries_of(runtime, kind):
        url = addresses(kind, entry.key)[0]
        found = json.loads(await text_of(await client_as("admin").get(f"{url}?format=json")))
        manifest, version = found.pop("manifest"), found.pop("resourceVersion")
        assert version == entry.resource_version
        cause = found.pop("cause")
        assert cause is None or set(cause) == {"severity", "text", "reason"}
        assert found == by_key[entry.key.namespace, entry.key.name]
        assert manifest["metadata"]["name"] == entry.key.name
        response = await client_as("admin").get(f"{url}?format=yaml")
        assert response["Content-Type"].startswith("application/yaml")
        text = await text_of(response)
        written = yaml.safe_load(text)
        assert text.replace("\n", "").isprintable()
        # The YAML contains the type of the page, not the type in the object.
        named = {"kind": kind.api_kind, "apiVersion": kind.gvr.group_version}
        assert written == {**manifest, **named}


async def test_tenant_input_is_shown_escaped(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    worst = next(entry for entry in entries_of(runtime, kind) if entry.key.name == LONG_NAME)
    html = await text_of(await client_as("admin").get(addresses(kind, worst.key)[-1]))
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert "\\u202E" in html


@pytest.mark.sampled
async def test_unknown_format_is_refused(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    url = addresses(kind, entries_of(runtime, kind)[0].key)[0]
    for query in ("format=csv", "format=", "format=json&format=yaml", "format=%00"):
        assert (await client_as("admin").get(f"{url}?{query}")).status_code == 400, query
