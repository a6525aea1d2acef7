"""Links in cells."""

from collections.abc import Iterator

import pytest

from console.ui.core.link_resolver import LinkResolver
from console.ui.lists.columns import LinkTarget, ResolvedLink, target_of
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.ui.support import alice, charlie, make_runtime


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


def test_references_to_kinds_that_lists_do_not_watch_have_the_same_link_for_all_users() -> None:
    here = "/clusters/host/projects/data/persistentvolumeclaims/cold"
    for user in (alice(), charlie()):
        links = LinkResolver(user)
        assert links.resolve(target_of("PersistentVolumeClaim/cold", "data")) == ResolvedLink(here)
        found = links.resolve(target_of("StorageClass.storage.k8s.io/fast", "data"))
        assert found == ResolvedLink("/clusters/host/storageclasses/fast")
        assert links.resolve(target_of("Unknown.example.org/x", "data")) == ResolvedLink()
        assert links.resolve(target_of("PersistentVolumeClaim/a/b", "data")) == ResolvedLink()
