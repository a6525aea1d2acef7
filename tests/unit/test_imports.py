"""No module is needed, by way of others, by what it needs itself: each can be imported first."""

from graphlib import TopologicalSorter

import grimp

PACKAGES = ("console", "access", "accounts", "rbac", "workspaces", "devcluster")


def test_imports_go_in_no_circle() -> None:
    """Those for types alone are left out: a kind has actions, and these are told of which kind."""
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    needs = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(needs).prepare()
