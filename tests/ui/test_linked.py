"""Links in cells."""

from collections.abc import Iterator

import pytest

from console.ui.columns import Target
from console.ui.columns.links import Linked
from console.ui.linked import Links
from rbac.current import no_host, use_host
from tests.ui.support import alice, make_runtime


@pytest.fixture(autouse=True)
def _pods() -> Iterator[None]:
    use_host(make_runtime())
    yield
    no_host()


def test_link_reveals_a_missing_object_only_to_users_who_may_list_it() -> None:
    links = Links(alice())
    assert links.resolve(Target("pods", "team-a", "api-1")).url
    assert links.resolve(Target("pods", "team-a", "nobody")) == Linked("", missing=True)
    for name in ("web-1", "nobody"):
        assert links.resolve(Target("pods", "team-b", name)) == Linked()
