"""Properties of a single kind are part of its declaration: no other module contains a table of
kinds.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from console.kube import gvr
from console.kube.gvr import GVR

ROOT = Path(__file__).parents[2]
TYPES = {name for name, value in vars(gvr).items() if isinstance(value, GVR)}
#: Types that a module may reference because it implements them: an action on snapshots references
#: classes and claims.
MOST = 4
#: Common to workloads and pods: types that a pod spec may reference. Menu pages, which check
#: permissions for types. Pages that represent an object of another type.
SHARED = {
    "console/actions/workloads/base.py",
    "console/ui/navigation/level.py",
    "console/ui/navigation/nav.py",
}
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for package in ("ui", "views", "live", "logs", "terminals", "streams")
    for path in (ROOT / "console" / package).rglob("*.py")
)


def named(tree: ast.AST) -> Iterator[str]:
    """Return the types referenced by constants of `console.kube.gvr`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "console.kube.gvr":
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.attr if node.value.id in ("types", "gvr") else ""


def test_no_module_lists_kinds() -> None:
    found = {
        file: TYPES.intersection(named(ast.parse((ROOT / file).read_text(encoding="utf-8"))))
        for file in FILES
        if file not in SHARED
    }
    assert not {file: sorted(types) for file, types in found.items() if len(types) > MOST}
