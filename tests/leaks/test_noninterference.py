"""Objects that a user cannot see never influence that user's pages, not even by a name or a number.

Every page is requested twice, from a cluster with secret objects and from one without. The
responses must be identical, byte by byte. This covers names, totals, facets, counts in the menu,
search, "used by", maps, overviews, events, errors, and the difference between missing and
forbidden objects. All registered kinds and all pages without parameters are covered.
"""

import asyncio
import json
import re
from collections.abc import Collection, Iterable
from itertools import count
from os.path import commonprefix
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.urls import reverse

from console.draining.progress import progress_url
from console.draining.results import PodResult, PodStep, encode_results
from console.kube.gvr import (
    GLOBAL_ROLES,
    GROUPS,
    GVR,
    NAMESPACES,
    NODES,
    PODS,
    USERS,
    WORKSPACE_ROLES,
    WORKSPACES,
    ObjectReference,
)
from console.kube.identity import Identity
from console.live.sharedviews import get_shared_views
from console.operations.store import create_operation, record_heartbeat
from console.ui.core.clusters import clusters
from console.ui.core.kind import ResourceKind
from console.ui.core.links import action_url, detail_url, list_url
from console.ui.core.object_source import open_source
from console.ui.core.registry import kinds
from console.ui.core.text import dom_id
from console.ui.details.panels.standard import tabs_of
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import build_table
from console.ui.navigation.page_routes import resolve_list
from rbac.process_clusters import set_host_cluster
from tests.kinds.world import change
from tests.leaks.view_urls import PART, overviews, sampled_view_urls
from tests.leaks.world import (
    ADMIN,
    BESIDE,
    BOB,
    CANARY,
    CHARLIE,
    KINDS,
    SECRET_PROJECT,
    SURVEYOR,
    Clusters,
    first_tab,
    got,
    key_of,
    named,
    only,
    secret,
    visible,
)
from tests.live.conftest import Browser
from tests.support.audit_ranges import without_range
from tests.support.depth import DEEP, some
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.views.conftest import ClientAs

#: Values in a page that come from the request itself or the clock.
_OWN = re.compile(
    r"""(name="csrfmiddlewaretoken" value|"x-csrftoken":|hx-headers|data-now"""
    r"""|overview" data-poll="10" data-etag)=?\s*("[^"]*"|'[^']*')"""
)
_AGES = re.compile(r"(<time [^>]*>)[^<]*")
#: Object timestamps have no fractional seconds, so this matches only the current time.
_NOW = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d{6}")
TOUCH = "touched"
_versions = count(1000)

#: Object changes are stored in SQL.
pytestmark = pytest.mark.django_db


#: Kinds shown on the pages of accounts, roles, and workspaces.
TENANCY = (USERS, GLOBAL_ROLES, WORKSPACES, WORKSPACE_ROLES, GROUPS)


def pages_of(kind: ResourceKind, who: str) -> list[str]:
    """Return URLs of a kind. In the CI run: the list, pages of visible objects, and a sample of
    others that depends on the viewer.
    """
    shown, others = [listed := list_url("host", kind.segment)], []
    for query in ("limit=500", f"q={PART}", "status=error", f"namespace={SECRET_PROJECT}"):
        others.append(f"{listed}?{query}")
    for form in ("json", "csv", "tsv"):
        others.append(f"{listed}?format={form}")
    others += (f"{listed}?sort={column}&format=json" for column in list(kind.sortable)[-2:])
    for obj, pages in ((visible(kind), shown), (secret(kind), others)):
        key = key_of(obj)
        for number, tab in enumerate(tabs_of(kind)):
            shown_in = tab.id if number else first_tab(kind, key)
            pages.append(detail_url("host", kind.segment, key, shown_in))
        others.append(detail_url("host", kind.segment, key) + "?format=json")
        others.append(detail_url("host", kind.segment, key) + "?format=yaml")
        others.append(action_url("delete", "host", kind.segment, key))
    if who not in (BOB, only(kind)) and not DEEP:
        # These users see at most one object.
        shown = shown[:2]
    shown = [*shown[:2], *some(who + kind.segment, shown[2:], 3)]
    return [*shown, *some(who + kind.segment, others, 2)]


async def answers(client_as: ClientAs, who: str, urls: Iterable[str]) -> dict[str, tuple[int, str]]:
    found = {}
    client = client_as(who)
    for url in urls:
        response = await client.get(url)
        text = settled(await text_of(response))
        found[url] = (response.status_code, text + str(response.get("Location")))
    return found


def settled(text: str) -> str:
    return without_range(_NOW.sub("", _AGES.sub(r"\1", _OWN.sub("", text))))


async def compare(
    clusters: Clusters, client_as: ClientAs, who: str, urls: list[str], **but: Any
) -> None:
    found = []
    for secrets in (False, True):
        set_host_cluster(clusters.runtime(secrets, **but))
        found.append(await answers(client_as, who, urls))
    without, within = found
    for url, answer in without.items():
        assert answer[0] < 500, url
        assert within[url] == answer, f"{who}: {url}\n{difference(answer[1], within[url][1])}"


def difference(without: str, within: str) -> str:
    """Return the context of the first difference."""
    at = len(commonprefix([without, within]))
    return f"without: …{without[max(0, at - 200) : at + 300]}\nwith: …{within[at : at + 300]}"


async def test_pages_of_a_kind_do_not_depend_on_hidden_objects(
    clusters: Clusters, client_as: ClientAs, kind: ResourceKind
) -> None:
    for who in (BOB, *some(kind.segment, (CHARLIE, got(kind), named(kind)), 1)):
        wide = some(who, overviews(), 2) if who == named(kind) else []
        await compare(clusters, client_as, who, [*pages_of(kind, who), *wide])
    if kind.gvr in BESIDE:
        await compare(clusters, client_as, SURVEYOR, pages_of(kind, BOB), but=BESIDE)


@pytest.mark.sampled
async def test_permission_for_one_kind_reveals_nothing_about_others(
    clusters: Clusters, client_as: ClientAs, kind: ResourceKind
) -> None:
    """Includes relations between objects."""
    who = only(kind)
    urls = [*pages_of(kind, who), *some(who, overviews(), 2)]
    await compare(clusters, client_as, who, urls, but=[kind.gvr])


async def test_other_pages_do_not_depend_on_hidden_objects(
    clusters: Clusters, client_as: ClientAs
) -> None:
    for who in (CHARLIE, BOB):
        await compare(clusters, client_as, who, sampled_view_urls(who))
    for kind in filter(None, map(kinds.by_type, TENANCY)):
        who = only(kind)
        await compare(clusters, client_as, who, sampled_view_urls(who), but=[kind.gvr])
    await compare(clusters, client_as, SURVEYOR, sampled_view_urls(SURVEYOR), but=BESIDE)


@pytest.mark.django_db(transaction=True)
async def test_drain_progress_does_not_depend_on_hidden_pods(
    clusters: Clusters, client_as: ClientAs
) -> None:
    """The progress is stored in SQL and includes pods of all projects."""
    nodes, pods = (kind for gvr in (NODES, PODS) if (kind := kinds.by_type(gvr)))
    node, url = visible(nodes), progress_url("host", nodes, key_of(visible(nodes)))
    about = ObjectReference("host", NODES, key_of(node), node["metadata"]["uid"])
    number, found = await sync_to_async(create_operation)(about, "drain", ADMIN, {}), []
    for secrets in (False, True):
        set_host_cluster(clusters.runtime(secrets, BESIDE))
        shown = [(visible(pods), PodStep.GONE)] + [(secret(pods), PodStep.BLOCKED)] * secrets
        results = [PodResult(*key_of(pod), pod["metadata"]["uid"], step) for pod, step in shown]
        assert await sync_to_async(record_heartbeat)(number, encode_results(results))
        found.append(await answers(client_as, SURVEYOR, [url]))
    assert "1 of 1, 100 %" in found[0][url][1]
    assert found[0] == found[1], difference(found[0][url][1], found[1][url][1])


@pytest.mark.sampled
async def test_users_with_permission_see_the_secret_objects(
    clusters: Clusters, client_as: ClientAs, kind: ResourceKind
) -> None:
    """This check makes the other tests meaningful."""
    set_host_cluster(clusters.runtime(True))
    listed = list_url("host", kind.segment) + "?limit=500"
    for who in (ADMIN, only(kind)):
        assert CANARY in await text_of(await client_as(who).get(listed)), who
    shown = await text_of(await client_as(ADMIN).get(f"/search?q={PART}"))
    assert kind.private or f'data-resource="{kind.view.plural}"' in shown
    key = key_of(visible(kind))
    # A Namespace counts as inside itself.
    place = key.name if kind.gvr == NAMESPACES else key.namespace
    for who in (BOB, named(kind), got(kind)):
        response = await client_as(who).get(
            detail_url("host", kind.segment, key, first_tab(kind, key))
        )
        allowed = who != BOB or place == "shop"
        assert response.status_code == (200 if allowed else 403), who


@pytest.mark.parametrize("gvr", [PODS, NODES])
async def test_only_users_with_permission_see_usage(
    clusters: Clusters, client_as: ClientAs, gvr: GVR
) -> None:
    """Permission for the objects alone does not include their usage."""
    set_host_cluster(clusters.runtime(True))
    kind = kinds.by_type(gvr)
    assert kind is not None
    for who, shown in ((ADMIN, True), (only(kind), False)):
        listed = list_url("host", kind.segment) + "?format=json&limit=500"
        text = await text_of(await client_as(who).get(listed))
        [item] = [
            one for one in json.loads(text)["items"] if one["name"] == key_of(secret(kind)).name
        ]
        assert bool(re.search(r"1\.?234", json.dumps(item))) is shown, item


@pytest.mark.sampled
async def test_bulk_confirmations_do_not_depend_on_hidden_objects(
    clusters: Clusters, client_as: ClientAs, kind: ResourceKind
) -> None:
    """The confirmation page of a bulk deletion names existing objects."""
    keys = [str(key_of(obj)) for obj in (visible(kind), secret(kind))]
    keys.append(keys[-1] + "-that-is-not-there")
    url = reverse("bulk", args=("host", kind.segment, "delete"))
    for who in some(kind.segment, (CHARLIE, BOB, named(kind), got(kind)), 2):
        found = []
        for secrets in (False, True):
            set_host_cluster(clusters.runtime(secrets))
            for given in ({"keys": "\n".join(keys)}, {"keys": keys[1]}, {"all": "1"}):
                response = await client_as(who).post(url, given)
                found.append((response.status_code, settled(await text_of(response))))
        assert found[: len(found) // 2] == found[len(found) // 2 :], who


@pytest.mark.sampled
async def test_websockets_do_not_depend_on_hidden_objects(
    clusters: Clusters, kind: ResourceKind
) -> None:
    """Both secret and visible objects change."""
    narrow: tuple[tuple[str, Collection[GVR]], ...]
    narrow = ((named(kind), ()), (got(kind), ()), (only(kind), [kind.gvr]))
    for who, but in ((BOB, ()), *some(kind.segment, narrow, 1)):
        shown = visible(kind)
        if who == BOB and key_of(shown).namespace != "shop":
            continue
        listed = list_url("host", kind.segment) + "?limit=500"
        there = key_of(shown)
        detail = detail_url("host", kind.segment, there, first_tab(kind, there))
        # Lists that are read with the user's identity require list permission in at least one
        # project.
        single = who == got(kind) or (kind.private and who == named(kind))
        for url in (detail,) if single else (listed, detail):
            found = []
            for secrets in (False, True):
                runtime = clusters.runtime(secrets, but, anew=kind)
                set_host_cluster(runtime)
                found.append(await told(runtime, who, kind, url))
            assert found[0] == found[1], f"{who}: {url}\n{difference(*map(str, found))}"


async def told(runtime: StaticRuntime, who: str, kind: ResourceKind, url: str) -> list[str]:
    """Return all frames up to the change of the visible object."""
    access = clusters.host.access_for(Identity(who))
    assert access is not None
    browser = Browser(access)  # type: ignore[arg-type]
    assert await browser.connect()
    place = resolve_list(url)
    if place is not None:
        with open_source(kind, access, place.spec.namespaces) as informer:
            table = build_table(ListQuery.of(place.spec, access), informer)
        await browser.return_with(table)
    else:
        await browser.say(json.dumps({"subscribe": url, "etag": "", "lang": "en", "rows": []}))
    found = [await browser.html()]
    if place is None:
        found.append(await browser.html())
        assert 'id="detail-head"' in found[-1]
    for other in KINDS:
        if other.private or runtime.informer(other.gvr).store.get(key_of(secret(other))):
            change(runtime, other, touched(secret(other)))
    # Every list shows at least that the object has another UID.
    change(runtime, kind, touched(visible(kind), uid=TOUCH))
    awaited = TOUCH if place is None else f'id="{dom_id(kind.segment, str(key_of(visible(kind))))}"'
    while awaited not in found[-1]:
        found.append(await browser.frame())
    await browser.leave()
    # The next run must not use the cached result of this one.
    while len(get_shared_views()):
        await asyncio.sleep(0.01)
    return [settled(frame) for frame in found]


def touched(obj: dict[str, Any], **more: str) -> dict[str, Any]:
    meta = {**obj["metadata"], "resourceVersion": str(next(_versions)), "labels": {TOUCH: ""}}
    return {**obj, "metadata": {**meta, **more}}
