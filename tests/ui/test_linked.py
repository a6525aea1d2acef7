"""Links in cells."""

from collections.abc import Iterator

import pytest

from console.ui.core.link_resolver import LinkResolver
from console.ui.lists.columns import LinkTarget, ResolvedLink
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.ui.support import alice, make_runtime


@pytest.fixture(autouse=True)
def _pods() -> Iterator[None]:
    set_host_cluster(make_runtime())
    yield
    unset_host_cluster()


def test_link_reveals_a_missing_object_only_to_users_who_may_list_it() -> None:
    links = LinkResolver(alice())
    assert links.resolve(LinkTarget("pods", "team-a", "api-1")).url
    assert links.resolve(LinkTarget("pods", "team-a", "nobody")) == ResolvedLink("", missing=True)
    for name in ("web-1", "nobody"):
        assert links.resolve(LinkTarget("pods", "team-b", name)) == ResolvedLink()
