"""Kinds created from CustomResourceDefinitions, including malformed and hostile ones."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from console.kube.gvr import GVR
from console.kube.projections.custom import decoder_of
from console.ui.core.clusters import Kinds, clusters
from console.ui.core.custom_kinds import SPARE, generic_kind, plural_of
from console.ui.core.kind_names import kind_named, kinds_like
from console.ui.core.registry import _problems
from console.ui.editing.creating import may_create_any
from console.ui.navigation.level import Level
from console.ui.navigation.nav import CUSTOMS, all_kinds, nav
from rbac.process_clusters import unset_host_cluster
from tests.kinds.custom_types import HOSTILE, WIDGETS, World, column, definition, widget
from tests.kinds.world import POLYGLOT, encoded
from tests.support.informers import take_away
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, admin, charlie
from tests.views.conftest import ClientAs


@pytest.fixture
def world() -> Iterator[World]:
    yield World()
    unset_host_cluster()


@pytest.fixture
def runtime(world: World) -> StaticRuntime:
    return world.runtime


def kinds() -> Kinds:
    return clusters.host.kinds


def segments() -> list[str]:
    return [kind.segment for kind in kinds().customs]


def test_kind_follows_its_definition(world: World) -> None:
    assert kinds().find("widgets.x.org") is None
    world.define(definition())
    found = kinds().find("widgets.x.org")
    assert found is not None
    assert (found.gvr, found.title, found.singular) == (WIDGETS, "Widgets", "Widget")
    assert kinds().of(WIDGETS) is found
    assert kinds().of(GVR("x.org", "v2", "widgets")) is None
    assert kinds().find("widgets") is None
    take_away(world.definitions, definition())
    assert kinds().find("widgets.x.org") is None
    assert segments() == []


@pytest.mark.parametrize("word", ["widgets", "Widget", "WIDGETS.X.ORG", "wd"])
def test_kind_is_found_by_its_names(world: World, word: str) -> None:
    assert kind_named(kinds(), word) is None
    made = definition()
    made["spec"]["names"]["shortNames"] = ["wd", "po"]
    world.define(made)
    found = kinds().find("widgets.x.org")
    assert kind_named(kinds(), word) is found
    assert found in kinds_like(kinds(), word) and found in kinds_like(kinds(), "widg")
    # Built-in kinds keep their names.
    assert kind_named(kinds(), "po") is kinds().find("pods")
    take_away(world.definitions, definition())
    assert kind_named(kinds(), word) is None and kinds_like(kinds(), "widg") == []


async def test_palette_and_search_find_custom_kinds(world: World, client_as: ClientAs) -> None:
    world.define(definition())
    for text in ("widg", "widgets"):
        html = await text_of(await client_as("admin").get(f"/palette?q={text}"))
        assert 'href="/clusters/host/widgets.x.org"' in html
    world.put(widget("anchor"), widget("buoy"))
    page = "/clusters/host/projects/shop/widgets.x.org/anchor"
    for text in ("anch", "widget anch", "widgets"):
        assert page in await text_of(await client_as("admin").get(f"/search?q={text}"))
    # Users who may not list the kind don't learn that it exists.
    for path in ("/palette?q=widg", "/palette?q=anch", "/search?q=widgets"):
        html = await text_of(await client_as("charlie").get(path))
        assert "widgets.x.org" not in html and "Widgets" not in html


def test_kind_object_is_reused_while_its_definition_is_unchanged(world: World) -> None:
    world.define(definition())
    first = kinds().find("widgets.x.org")
    world.define(definition())
    assert kinds().find("widgets.x.org") is first
    world.define(definition("widgets.x.org", column("Size")))
    second = kinds().find("widgets.x.org")
    assert second is not first
    assert second is not None
    assert "size" in second.sortable
    world.define(definition("widgets.x.org", column("Size"), uid="u2"))
    assert kinds().find("widgets.x.org") is not second


@pytest.mark.parametrize(
    "changes",
    [{"established": False}, {"served": False}, {"established": False, "accepted": False}],
)
def test_type_that_is_not_served_has_no_kind(world: World, changes: dict[str, Any]) -> None:
    world.define(definition(**changes))
    assert kinds().find("widgets.x.org") is None
    assert segments() == []


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("users.iam.kubesphere.io", "users.iam.kubesphere.io"),
        ("ingresses.networking.k8s.io", "ingresses"),
        ("gateways.gateway.networking.k8s.io", "gateways.gateway.networking.k8s.io"),
    ],
)
def test_built_in_kinds_take_precedence(world: World, name: str, declared: str) -> None:
    before = kinds().find(declared)
    world.define(definition(name, column("Stolen")))
    assert kinds().find(declared) is before
    assert segments() == []
    assert kinds().find(name) in (before, None)


def test_type_with_the_plural_of_a_built_in_kind_has_its_own_url(world: World) -> None:
    pods = kinds().find("pods")
    world.define(definition("pods.networking.k8s.io", kind="Pod"))
    other = kinds().find("pods.networking.k8s.io")
    assert kinds().find("pods") is pods
    assert other is not None
    assert other is not pods
    assert other.segment == "pods.networking.k8s.io"
    assert kinds().of(other.gvr) is other


@pytest.mark.parametrize("scope", ["Namespaced", "Cluster"])
@pytest.mark.parametrize("conditions", [True, False])
@pytest.mark.parametrize("columns", [[], HOSTILE, [column(f"C{n}") for n in range(3000)]])
def test_any_definition_makes_a_valid_kind(
    world: World, scope: str, conditions: bool, columns: list[dict[str, Any]]
) -> None:
    given = definition("widgets.x.org", *columns, scope=scope, conditions=conditions)
    world.define(given)
    kind = kinds().find("widgets.x.org")
    assert kind is not None
    assert list(_problems(type(kind))) == []
    assert len(kind.columns) < 30


async def test_hostile_definition_is_escaped(world: World, client_as: ClientAs) -> None:
    world.define(definition("widgets.x.org", *HOSTILE))
    status = {"conditions": [{"type": "Ready", "status": "False", "reason": POLYGLOT}]}
    values: tuple[Any, ...] = (POLYGLOT, 3, None, {"a": [POLYGLOT]}, "=1+1", [], True)
    world.put(
        *(widget(f"w{n}", spec={"x": x, "size": x}, status=status) for n, x in enumerate(values)),
        widget("bare"),
        widget("list", spec=[1, 2], status="none"),
    )
    for query in ("", "?sort=size", "?sort=-size_4", "?q=alert", "?format=csv", "?format=json"):
        response = await client_as("admin").get(f"/clusters/host/widgets.x.org{query}")
        text = await text_of(response)
        assert response.status_code == 200, query
        if "format" not in query:
            assert "<script>alert" not in text
            assert "<img" not in text
            assert "\u202e" not in text


async def test_definitions_link_to_lists_only_if_they_are_served(
    world: World, client_as: ClientAs
) -> None:
    world.define(definition(), definition("gone.x.org", kind="Gone", served=False))
    html = await text_of(await client_as("admin").get("/clusters/host/customresourcedefinitions"))
    assert 'href="/clusters/host/widgets.x.org' in html
    assert 'href="/clusters/host/gone.x.org' not in html


def items_of(access: FakeAccess) -> list[tuple[str, str]]:
    groups = all_kinds(access, Level("cluster"))
    return [(item.group, item.url) for group in groups for item in group.items if item.group]


def test_all_resources_page_lists_custom_kinds_by_group_for_permitted_users(world: World) -> None:
    world.define(
        definition("zebras.a.org", kind="Zebra"),
        definition(),
        definition("ants.a.org", kind="Ant", scope="Cluster"),
    )
    assert items_of(admin()) == [
        ("a.org", "/clusters/host/ants.a.org"),
        ("a.org", "/clusters/host/zebras.a.org"),
        ("x.org", "/clusters/host/widgets.x.org"),
    ]
    assert items_of(charlie()) == []
    rail = nav(admin(), Level("cluster"), "widgets.x.org").rail
    assert [one.url for one in rail if one.current] == ["/clusters/host/resources"]
    # The existence of the type is not public.
    rail = nav(charlie(), Level("cluster"), "widgets.x.org").rail
    assert [one.url for one in rail if one.current] == []


STUCK = {"conditions": [{"type": "Ready", "status": "False", "reason": "Jammed"}]}
SHOP = "/clusters/host/projects/shop"


async def test_failing_custom_resources_need_attention(world: World, client_as: ClientAs) -> None:
    """In overviews, menus and pickers, while their type is cached."""
    world.define(definition())
    mast = widget("mast", status={"phase": "Running"})
    world.put(mast)
    assert "Nothing needs attention" in await text_of(await client_as("admin").get(SHOP))
    world.put(widget("hull", status=STUCK), mast)
    for url in (SHOP, "/clusters/host"):
        response = await client_as("admin").get(url)
        html = await text_of(response)
        [line] = re.findall(r'<ul class="troubles">(.*?)</ul>', html, re.DOTALL)
        told = " ".join(re.sub(r"<[^>]+>", " ", line).split())
        assert told.startswith("Not ready hull Widget") and "Jammed" in told
        assert 'class="status" data-severity="error"' in line
        assert response.context["scope"].problems.failing["project", "shop"] == 1
        rail = {str(one.label): one.problems for one in response.context["nav"].rail}
        problems = rail["More resources"]
        assert problems is not None
        assert '<span data-count="failing">1</span>' in problems.html("en")
    listed = await client_as("admin").get("/clusters/host/widgets.x.org?state=Not+ready")
    html = await text_of(listed)
    assert f'href="{SHOP}/widgets.x.org/hull"' in html and "mast" not in html


async def test_failing_custom_resources_are_not_reported_to_users_who_may_not_list_them(
    world: World, client_as: ClientAs
) -> None:
    world.define(definition())
    world.put(widget("hull", status=STUCK))
    response = await client_as("alice").get("/clusters/host/projects/team-a")
    html = await text_of(response)
    assert "hull" not in html and "Widget" not in html
    assert not response.context["scope"].problems.failing


class Only(FakeAccess):
    """A user who may list and create objects of one type."""

    def __init__(self, resource: str) -> None:
        super().__init__("erin", list_in=(), delete_in=())
        self._resource = resource

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        return None if gvr.resource == self._resource else frozenset()


def test_kinds_of_other_users_do_not_use_up_the_menu_limit(world: World) -> None:
    names = [f"things{n:04d}" for n in range(CUSTOMS + 1)]
    world.define(*(definition(f"{name}.many.org", kind=name.title()) for name in names))
    last = f"/clusters/host/{names[-1]}.many.org"
    assert items_of(Only(names[-1])) == [("many.org", last)]


def test_permission_to_create_a_custom_resource_enables_the_create_page(world: World) -> None:
    world.define(definition())
    assert may_create_any(Only("widgets"))
    assert not may_create_any(Only("things"))


async def test_thousands_of_kinds_are_limited_in_the_menu_but_listed_completely(
    world: World, client_as: ClientAs
) -> None:
    many = [definition(f"things{n:04d}.many.org", kind=f"Thing{n}") for n in range(3000)]
    world.definitions.replace([msgspec.Raw(msgspec.json.encode(item)) for item in many], "9")
    assert len(items_of(admin())) == CUSTOMS
    page = "/clusters/host/customresourcedefinitions?q=things2999"
    html = await text_of(await client_as("admin").get(page))
    assert 'href="/clusters/host/things2999.many.org' in html
    assert kinds().find("things2999.many.org") is not None


def test_cached_kinds_of_deleted_types_are_removed(world: World) -> None:
    registry = kinds()
    for number in range(3 * SPARE):
        name = f"fleeting{number}.x.org"
        world.define(definition(name))
        assert registry.find(name) is not None
        take_away(world.definitions, definition(name))
    assert len(registry.customs._kinds) <= 2 * SPARE


@pytest.mark.parametrize(
    ("kind", "plural", "title"),
    [
        ("Widget", "widgets", "Widgets"),
        ("NetworkPolicy", "networkpolicies", "NetworkPolicies"),
        ("Mouse", "mice", "Mice"),
        ("Ox", "bulls", "bulls"),
        ("Sheep", "sheep", "Sheep"),
    ],
)
def test_list_title_uses_the_case_of_the_kind(
    world: World, kind: str, plural: str, title: str
) -> None:
    world.define(definition(f"{plural}.x.org", kind=kind))
    found = world.runtime.types.find("x.org", plural)
    assert found is not None
    assert plural_of(found) == title
    assert generic_kind(found).title == title


def test_values_decoded_for_other_columns_are_not_shown(world: World) -> None:
    world.define(definition("widgets.x.org", column("Size", ".spec.size", "integer")))
    informer = world.put(widget("hull", spec={"size": 7, "color": "grey"}))
    world.define(definition("widgets.x.org", column("Color", ".spec.color")))
    kind = kinds().find("widgets.x.org")
    assert kind is not None
    (entry,) = informer.store.snapshot().entries.values()
    assert kind.sortable["color"].plain(entry) is None
    found = world.runtime.types.get(WIDGETS)
    assert found is not None
    informer.store.decode_with(decoder_of(found.columns, has_state=found.has_state))
    # The same version of the same object, with a new projection.
    informer.replace([encoded(widget("hull", spec={"size": 7, "color": "grey"}))], "2")
    (entry,) = informer.store.snapshot().entries.values()
    assert kind.sortable["color"].plain(entry) == "grey"
