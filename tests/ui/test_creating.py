"""Whom a list offers to create another one, where that leads, and what a manifest begins with."""

import pytest
import yaml
from django.http import QueryDict

from console.kube.discovery import CustomType
from console.kube.gvr import GVR, NODES, PODS
from console.ui.creating import create_url, may_create_any, skeleton
from console.ui.generic import generic_kind
from console.ui.kind import ResourceKind
from console.ui.registry import kinds
from console.ui.rights import rights_key
from console.ui.selection import ListQuery
from console.ui.table import rows
from console.ui.viewspec import ViewSpec
from tests.informers import preloaded
from tests.ui.lists import spec_of, table
from tests.ui.support import FakeAccess, admin, alice, bob, charlie

IMPORT = "/clusters/host/import?kind=pods"
TWO = FakeAccess("two", delete_in={"shop", "team-b"})


@pytest.mark.parametrize(
    ("access", "query", "url"),
    [
        (admin(), "", IMPORT),
        (admin(), "namespace=shop", f"{IMPORT}&namespace=shop"),
        (admin(), "q=web&namespace=team-b&namespace=shop", f"{IMPORT}&namespace=team-b"),
        (alice(), "", f"{IMPORT}&namespace=team-a"),
        (alice(), "namespace=team-a", f"{IMPORT}&namespace=team-a"),
        (TWO, "", IMPORT),
        (TWO, "namespace=shop&namespace=team-a", f"{IMPORT}&namespace=shop"),
        (TWO, "namespace=team-a", ""),
        (bob(), "", ""),
        (bob(), "namespace=shop", ""),
    ],
)
def test_where_it_leads(access: FakeAccess, query: str, url: str) -> None:
    """Into what the list shows, and nowhere for whoever may create none there."""
    assert create_url(spec_of(query), access) == table(query, access).create_url == url


def test_an_empty_list_offers_it_too() -> None:
    state = table(objects=[]).state
    assert state is not None
    assert (state.action_url, state.action_label) == (IMPORT, "Create pod")
    state = table("", bob(), objects=[]).state
    assert state is not None
    assert (state.action_url, state.action_label) == ("", "")


@pytest.mark.parametrize(
    ("access", "offered"), [(admin(), True), (alice(), True), (bob(), False), (charlie(), False)]
)
def test_who_may_create_something_is_known(access: FakeAccess, offered: bool) -> None:
    assert may_create_any(access) is offered


def test_a_right_within_a_project_is_none_to_what_is_in_no_project() -> None:
    class InAProject(FakeAccess):
        def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str]:
            return frozenset({"shop"} if (verb, gvr) == ("create", NODES) else ())

    assert not may_create_any(InAProject())


def test_who_may_create_shares_no_list_with_who_may_not() -> None:
    kind = spec_of("").kind
    assert rights_key(kind, TWO) != rights_key(kind, bob())
    assert table("").etag != table("", FakeAccess("b", delete_in={"nowhere"})).etag


@pytest.mark.parametrize(
    ("segment", "query", "url"),
    [
        ("users", "", "/accounts/new"),
        ("workspaces", "", "/workspaces/new"),
        ("workspacetemplates", "", "/workspaces/new"),
        ("globalroles", "", "/access/roles/new/global"),
        ("clusterroles", "", "/access/roles/new/cluster"),
        ("roles", "?namespace=shop", "/access/roles/new/project?namespace=shop"),
        ("roles", "", "/clusters/host/import?kind=roles"),
        ("nodes", "", "/clusters/host/import?kind=nodes"),
    ],
)
def test_what_has_a_page_of_its_own_is_created_there(segment: str, query: str, url: str) -> None:
    kind = next(one for one in kinds if one.gvr.resource == segment)
    spec = ViewSpec.parse(kind, QueryDict(query.removeprefix("?")), cluster="host")
    assert create_url(spec, admin()).endswith(url)
    assert create_url(spec, FakeAccess("b", delete_in=())) == ""
    informer = preloaded(PODS, [])
    assert rows(ListQuery.of(spec, admin()), informer).create_url.endswith(url)


@pytest.mark.parametrize("kind", list(kinds), ids=lambda kind: kind.segment)
def test_a_manifest_begins_with_what_the_kind_needs(kind: ResourceKind) -> None:
    found = yaml.safe_load(skeleton(kind, "shop"))
    assert found["apiVersion"] == kind.gvr.group_version and found["kind"] == kind.api_kind
    assert found["metadata"]["name"]
    assert found["metadata"].get("namespace") == ("shop" if kind.view.namespaced else None)
    assert "namespace" not in yaml.safe_load(skeleton(kind, ""))["metadata"]


def test_a_custom_kind_begins_with_its_type() -> None:
    gvr = GVR("example.com", "v1", "widgets")
    custom = CustomType(gvr, "Widget", "widget", (), True, (), False, "u", True)
    assert skeleton(generic_kind(custom), "shop") == (
        "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n"
        "  name: example\n  namespace: shop\nspec: {}\n"
    )
