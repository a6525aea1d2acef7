"""Public class names are unique within a package."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
APPS = ("access", "accounts", "rbac", "workspaces")
#: Names defined by Django.
_DJANGO = frozenset({"Command", "Meta", "Migration"})


def packages() -> list[Path]:
    inside = [one for one in sorted((ROOT / "console").iterdir()) if (one / "__init__.py").exists()]
    return [*(ROOT / app for app in APPS), *inside]


def classes(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def twice(package: Path) -> dict[str, list[str]]:
    """Return names defined in several modules, with these modules."""
    found = defaultdict(set)
    for module in package.rglob("*.py"):
        for name in set(classes(module)) - _DJANGO:
            found[name].add(module.relative_to(ROOT).as_posix())
    return {name: sorted(modules) for name, modules in found.items() if len(modules) > 1}


@pytest.mark.parametrize("package", packages(), ids=lambda one: one.relative_to(ROOT).as_posix())
def test_class_names_are_unique_within_a_package(package: Path) -> None:
    assert twice(package) == {}
