"""What is so of one kind alone is said by its declaration: no table elsewhere lists kinds."""

import ast
from collections.abc import Iterator
from pathlib import Path

from console.kube import gvr
from console.kube.gvr import GVR

ROOT = Path(__file__).parents[2]
TYPES = {name for name, value in vars(gvr).items() if isinstance(value, GVR)}
#: Types that a module may name because it is about them: an action on snapshots knows classes and claims.
MOST = 4
#: What workloads and pods have in common: the types that the specification of pods may name. Pages of the
#: rails, which ask for rights on types.
SHARED = {"console/ui/workloads/kind.py", "console/ui/nav.py"}
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for package in ("ui", "views", "live", "logs", "terminals", "streams")
    for path in (ROOT / "console" / package).rglob("*.py")
)


def named(tree: ast.AST) -> Iterator[str]:
    """Types by the constants of `console.kube.gvr`."""
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
