"""The create link of lists and the initial manifest."""

import pytest
import yaml
from django.http import QueryDict

from console.kube.custom_types import CustomType
from console.kube.gvr import GVR, NODES, PODS
from console.ui.core.custom_kinds import generic_kind
from console.ui.core.kind import ResourceKind
from console.ui.core.kind_permissions import permissions_key
from console.ui.core.registry import kinds
from console.ui.editing.creating import create_url, may_create_any, skeleton
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import build_table
from console.ui.lists.viewspec import ViewSpec
from tests.support.informers import preloaded
from tests.ui.pod_lists import spec_of, table
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
def test_create_link_leads_into_the_listed_project(
    access: FakeAccess, query: str, url: str
) -> None:
    """It is omitted if the user may not create objects there."""
    assert create_url(spec_of(query), access) == table(query, access).create_url == url


def test_empty_list_offers_the_create_link() -> None:
    state = table(objects=[]).state
    assert state is not None
    assert (state.action_url, state.action_label) == (IMPORT, "Create pod")
    state = table("", bob(), objects=[]).state
    assert state is not None
    assert (state.action_url, state.action_label) == ("", "")


@pytest.mark.parametrize(
    ("access", "offered"), [(admin(), True), (alice(), True), (bob(), False), (charlie(), False)]
)
def test_permission_to_create_something_is_recognized(access: FakeAccess, offered: bool) -> None:
    assert may_create_any(access) is offered


def test_permission_in_a_project_does_not_cover_cluster_scoped_objects() -> None:
    class InAProject(FakeAccess):
        def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str]:
            return frozenset({"shop"} if (verb, gvr) == ("create", NODES) else ())

    assert not may_create_any(InAProject())


def test_lists_are_not_shared_between_users_with_different_create_permissions() -> None:
    kind = spec_of("").kind
    assert permissions_key(kind, TWO) != permissions_key(kind, bob())
    assert table("").etag != table("", FakeAccess("b", delete_in={"nowhere"})).etag


@pytest.mark.parametrize(
    ("segment", "query", "url"),
    [
        ("users", "", "/accounts/new"),
        ("workspaces", "", "/workspaces/-/new"),
        ("workspacetemplates", "", "/workspaces/-/new"),
        ("globalroles", "", "/access/roles/new/global"),
        ("clusterroles", "", "/access/roles/new/cluster"),
        ("roles", "?namespace=shop", "/access/roles/new/project?namespace=shop"),
        ("roles", "", "/clusters/host/import?kind=roles"),
        ("nodes", "", "/clusters/host/import?kind=nodes"),
    ],
)
def test_kind_with_a_create_form_links_to_it(segment: str, query: str, url: str) -> None:
    kind = next(one for one in kinds if one.gvr.resource == segment)
    spec = ViewSpec.parse(kind, QueryDict(query.removeprefix("?")), cluster="host")
    assert create_url(spec, admin()).endswith(url)
    assert create_url(spec, FakeAccess("b", delete_in=())) == ""
    informer = preloaded(PODS, [])
    assert build_table(ListQuery.of(spec, admin()), informer).create_url.endswith(url)


@pytest.mark.parametrize("kind", list(kinds), ids=lambda kind: kind.segment)
def test_initial_manifest_has_the_required_fields(kind: ResourceKind) -> None:
    found = yaml.safe_load(skeleton(kind, "shop"))
    assert found["apiVersion"] == kind.gvr.group_version and found["kind"] == kind.api_kind
    assert found["metadata"]["name"]
    assert found["metadata"].get("namespace") == ("shop" if kind.view.namespaced else None)
    assert "namespace" not in yaml.safe_load(skeleton(kind, ""))["metadata"]


def test_initial_manifest_of_a_custom_kind_has_its_type() -> None:
    gvr = GVR("example.com", "v1", "widgets")
    custom = CustomType(gvr, "Widget", "widget", (), True, (), False, False, "u", True)
    assert skeleton(generic_kind(custom), "shop") == (
        "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n"
        "  name: example\n  namespace: shop\nspec: {}\n"
    )
