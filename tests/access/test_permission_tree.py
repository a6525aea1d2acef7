"""The permission tree of the role form."""

import pytest

from access.roles.tree import permission_tree
from rbac.catalogue import CATALOGUE


@pytest.mark.parametrize(
    ("words", "has_pages"),
    [
        ("app templates", True),
        ("DevOps projects", False),
        ("workspaces", True),
        ("cluster monitoring", True),
    ],
)
def test_permissions_for_resources_without_pages_are_marked(words: str, has_pages: bool) -> None:
    branches = permission_tree({one.name: one for one in CATALOGUE}, (), ())
    found = [leaf for branch in branches for leaf in branch.leaves if leaf.title.endswith(words)]
    assert found and {leaf.has_pages for leaf in found} == {has_pages}
