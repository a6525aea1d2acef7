"""Arguments of displayed kubectl commands are quoted. Users copy these commands, and names of roles
and bindings may contain shell syntax.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.support.packages import PACKAGES
from tests.unit.templates.files import ROOT

#: Functions that return quoted words or lines.
_QUOTE = frozenset({"quoted", "_json", "_target"})
_LINES = frozenset(
    {"kubectl", "kubectl_patch", "kubectl_create", "command_of", "exec_command", "rollout_command"}
)
#: Constants and numbers.
_PLAIN = frozenset(
    {
        *("gvr.qualified", "kind.gvr.qualified", "ROLE_BINDINGS.qualified", "self.name"),
        *(
            "words",
            "verb",
            "sort",
            "option",
            "shell",
            "number",
            "str(number)",
            "number + _MOVED_BY",
        ),
        *(f"data['{name}']" for name in ("replicas", "least", "most", "cpu", "grace", "minutes")),
    }
)


def unquoted(tree: ast.Module) -> Iterator[str]:
    """Return the expressions of a module that are put into commands unquoted."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and any(map(_makes_words, ast.walk(function))):
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield from _unquoted(node.value, function)
                elif isinstance(node, ast.Call) and _called(node) == "kubectl":
                    yield from _unquoted(node.args[0], function)


def _unquoted(node: ast.AST, function: ast.FunctionDef) -> Iterator[str]:
    if isinstance(node, ast.Constant) or _makes_words(node) or ast.unparse(node) in _PLAIN:
        return
    parts: list[ast.AST] | None = None
    match node:
        case ast.Name():
            parts = list(_assigned(node.id, function))
        case ast.JoinedStr() | ast.BoolOp():
            parts = [*node.values]
        case ast.FormattedValue() | ast.Starred():
            parts = [node.value]
        case ast.Tuple() | ast.List():
            parts = [*node.elts]
        case ast.GeneratorExp() | ast.ListComp():
            parts = [node.elt]
        case ast.IfExp():
            parts = [node.body, node.orelse]
        case ast.BinOp(op=ast.Add()):
            parts = [node.left, node.right]
        case ast.Call(func=ast.Attribute(attr="join"), args=[joined]):
            parts = [joined]
        case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id=name), _]) if name in _QUOTE:
            parts = [ast.Constant(name)]
    for part in parts or ():
        yield from _unquoted(part, function)
    if not parts and not isinstance(node, ast.List):
        yield ast.unparse(node)


def _assigned(name: str, function: ast.FunctionDef) -> Iterator[ast.AST]:
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                yield value
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for target, value in zip(names, values, strict=True):
                    if isinstance(target, ast.Name) and target.id == name:
                        yield value
            case ast.AugAssign(target=ast.Name(id=found), value=value) if found == name:
                yield value


def _makes_words(node: ast.AST) -> bool:
    return _called(node) in _QUOTE | _LINES


def _called(node: ast.AST) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id
    return ""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("return kubectl(f'get {quoted(key.name)}', key)", []),
        ("return kubectl(f'get {key.name}', key)", ["key.name"]),
        (
            "names = ' '.join(quoted(one) for one in some)\n  return kubectl(f'get {names}', key)",
            [],
        ),
        ("names = ' '.join(one for one in some)\n  return kubectl(f'get {names}', key)", ["one"]),
        ("a, b = quoted(c), d.name\n  return kubectl('get ' + a + b, key)", ["d.name"]),
        ("return ' '.join((kubectl('get', key), *map(quoted, some)))", []),
        ("return ' '.join((kubectl('get', key), *map(str, some)))", ["map(str, some)"]),
    ],
)
def test_unquoted_values_are_detected(line: str, found: list[str]) -> None:
    tree = ast.parse(f"def command():\n  {line}")
    assert sorted(set(unquoted(tree))) == found


def test_all_values_in_commands_are_quoted() -> None:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text() for path in paths}
    made = {
        name: text for name, text in texts.items() if "console.ui.core.action_texts import" in text
    }
    made["console/ui/core/action_texts.py"] = texts["console/ui/core/action_texts.py"]
    assert len(made) > 15
    wrong = [f"{name}: {what}" for name, text in made.items() for what in unquoted(ast.parse(text))]
    assert not wrong, "\n".join(wrong)
