"""Imports between modules have no cycles: each module can be imported first and understood without
the modules built on it.
"""

from graphlib import TopologicalSorter

import grimp

PACKAGES = ("console", "access", "accounts", "rbac", "workspaces", "devcluster")


#: Imports for type annotations only: permissions apply to a cluster, which has kinds; kinds have
#: actions, which receive their kind, and a wizard, whose fields check permissions.
FOR_TYPES = {
    ("console.kube.controller", "console.kube.runtime"),
    ("console.ui.core.access", "console.ui.core.clusters"),
    ("console.ui.core.actions", "console.ui.core.requests"),
    ("console.ui.core.actions", "console.ui.core.kind"),
    ("console.ui.core.actions", "console.ui.core.subject"),
    ("console.ui.core.labels", "console.ui.core.kind"),
    ("console.ui.core.labels", "console.ui.core.subject"),
    ("console.ui.core.kind", "console.ui.wizard.examples"),
    ("console.ui.core.kind", "console.ui.wizard.wizard"),
}


def imports(*, for_types: bool) -> set[tuple[str, str]]:
    graph = grimp.build_graph(
        *PACKAGES, exclude_type_checking_imports=not for_types, cache_dir=None
    )
    return {
        (module, needed)
        for module in graph.modules
        for needed in graph.find_modules_directly_imported_by(module)
    }


def test_imports_have_no_cycles() -> None:
    needs: dict[str, set[str]] = {}
    for module, needed in imports(for_types=False):
        needs.setdefault(module, set()).add(needed)
    TopologicalSorter(needs).prepare()


def test_type_only_imports_are_limited_to_the_known_ones() -> None:
    assert imports(for_types=True) - imports(for_types=False) == FOR_TYPES
