"""Detail pages use only permissions that were compared for sharing the rendering."""

from typing import Any

import pytest

from console.kube.gvr import EVENTS, PODS, SERVICES, Key
from console.ui.core.access import Access
from console.ui.core.kind_permissions import RestrictedAccess
from console.ui.core.links import detail_url
from console.ui.core.registry import kinds
from console.ui.navigation.page_routes import DetailRoute, resolve_page
from tests.ui.support import FakeAccess, admin

pytestmark = pytest.mark.usefixtures("host")


def narrowed() -> RestrictedAccess:
    kind = kinds.by_segment("pods")
    assert kind is not None
    return RestrictedAccess(admin(), kind, frozenset({EVENTS}))


@pytest.mark.parametrize(
    ("verb", "gvr", "allowed"),
    [
        ("list", PODS, True),
        ("delete", PODS, True),
        ("update", PODS, False),
        ("list", EVENTS, True),
        ("delete", EVENTS, False),
        ("list", SERVICES, False),
    ],
)
def test_only_declared_permissions_are_granted(verb: str, gvr: Any, allowed: bool) -> None:
    access = narrowed()
    assert isinstance(access, Access)
    assert access.can(verb, gvr, namespace="shop", name="web-1") is allowed
    assert not access.can(verb, gvr, namespace="shop", name="web-1", subresource="log")
    assert access.namespaces_where(verb, gvr) == (None if allowed else frozenset())
    assert access.names_where(verb, gvr) == frozenset()


def test_rights_keys_differ_if_required_permissions_differ() -> None:
    place = resolve_page("/clusters/host/projects/shop/pods/web-1")
    assert isinstance(place, DetailRoute)
    assert EVENTS in place.needs
    assert place.rights(admin()) == place.rights(FakeAccess("eve", get_in=None))

    class NoEvents(FakeAccess):
        def names_where(self, verb: str, gvr: Any, subresource: str = "") -> frozenset[Key]:
            return frozenset({Key("shop", "one")}) if gvr == EVENTS else frozenset()

    assert place.rights(admin()) != place.rights(NoEvents("eve"))


@pytest.mark.parametrize(
    "url",
    [
        "/clusters/host/projects/shop/pods/web-1/nope",
        "/clusters/host/projects/shop/pods/web-1/actions/delete",
        "/clusters/host/projects/shop/nodes/n-1",
        "/clusters/host/pods/web-1",
        "/clusters/other/nodes/n-1",
        "/clusters/host/nowhere/n-1",
        "//evil/clusters/host/nodes/n-1",
    ],
)
def test_url_that_is_no_detail_page_is_not_found(url: str) -> None:
    assert resolve_page(url) is None


def test_first_tab_has_one_url() -> None:
    place = resolve_page("/clusters/host/nodes/n-1/overview?x=y")
    assert isinstance(place, DetailRoute)
    assert place.url == "/clusters/host/nodes/n-1"


def test_names_are_parsed_as_their_pages_encode_them() -> None:
    """RBAC accepts any name without a slash or percent sign."""
    for name in ("system:node-proxier", "my role", "角色?x#y&z=1"):
        kind = kinds.by_segment("clusterroles")
        assert kind is not None
        place = resolve_page(detail_url("host", kind.segment, Key("", name), "yaml"))
        assert isinstance(place, DetailRoute)
        assert place.key == Key("", name)
        assert resolve_page(place.url) == place
