"""Test modules don't import each other. Code that several of them need is in other modules of the
test packages, or in `tests/support`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]


def imported(module: Path) -> Iterator[str]:
    """Yield the dotted names of imported modules and of imported names, which may be modules."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_test_module(name: str) -> bool:
    path = TESTS.parent.joinpath(*name.split(".")).with_suffix(".py")
    return path.name.startswith("test_") and path.is_file()


def test_no_module_imports_a_test_module() -> None:
    modules = sorted(TESTS.rglob("*.py"))
    found = {
        f"{module.relative_to(TESTS.parent)} imports {name}"
        for module in modules
        for name in imported(module)
        if is_test_module(name)
    }
    assert sorted(found) == []
