"""Texts in the console's code are translated if users read them."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import pytest

from console.ui.core.words import STATUS_WORDS
from tests.support.packages import PACKAGES
from tests.unit.templates.files import ROOT

#: Functions that translate their arguments, and texts read only by operators or programs.
_LOOKED_UP = re.compile(r"_|n?p?gettext(_lazy|_noop)?|Message|SelectorError")
_TRANSLATED = re.compile(rf"{_LOOKED_UP.pattern}|log\.\w+|route|QueryParameter")
_FOR_PROGRAMS = re.compile(
    r"accounts/(oauth/|federation/backchannel\.py)"
    r"|console/(gateway/kapis/openapi\.py|live/counters\.py|mcp/(protocol|tools)\.py|metrics/"
    r"|views/audit/events\.py)"
    r"|.*/(management|migrations)/"
)
#: Phrases that stay English: conditions of objects, audit records, terms of Kubernetes and
#: the scheduler's reasons. Matched with `path: text`.
_IN_ENGLISH = re.compile(
    r"accounts/(bootstrap\.py|kubeconfigs/csr\.py|users/)|rbac/platform_projector\.py"
    r"|console/(audit/trail\.py|kube/leader\.py|proxying/closing\.py|streams/stream\.py|web/server\.py)"
    r"|console/ui/diagnosis/(attention\.py|diagnosis\.py: (Insufficient [\w-]+|Too many pods)$)"
)
_AT_ONCE = re.compile("n?p?gettext")
#: Threads that don't inherit the language of their creator, where they produce no text.
_OTHER_THREADS = re.compile(r"(.*\.)?(run_in_executor|to_thread|Thread|ThreadPoolExecutor)")
_SAYS_NOTHING_IN_THREADS = re.compile(
    r"accounts/(providers/ldap_connection|signin/passwords)\.py|console/(audit/background\.py|web/handler\.py|kube/.*)"
    r"|devcluster/.*"
)
_SENTENCE = re.compile(r"[A-Z].*[a-z] .*[.!?…]", re.DOTALL)
_PHRASE = re.compile(r"[A-Z][a-z]+(?= .*\b[a-z]{2})( [\w%(){},'-]+)+")
#: Names of arguments and attributes of fields, pages and actions that are displayed, even if
#: shorter than a sentence.
_GIVEN = {"label", "help_text", "title", "title_text", "button", "button_text", "about"}


@pytest.fixture(scope="module")
def modules() -> Mapping[str, ast.Module]:
    """Return the modules by path relative to the root."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text())
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }


def test_no_sentence_or_phrase_is_untranslated(modules: Mapping[str, ast.Module]) -> None:
    wrong = [
        f"{name}: {text}"
        for name, module in modules.items()
        if not _FOR_PROGRAMS.match(name)
        for text in _untranslated(module)
        if _SENTENCE.fullmatch(text)
        or (
            _PHRASE.fullmatch(text)
            and text not in STATUS_WORDS
            and not _IN_ENGLISH.match(f"{name}: {text}")
        )
    ]
    assert not wrong, "\n".join(wrong)


def _untranslated(node: ast.AST) -> Iterator[str]:
    """Return the string constants except docstrings and translated ones."""
    if isinstance(node, ast.Call) and _TRANSLATED.fullmatch(ast.unparse(node.func)):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
        return
    for child in ast.iter_child_nodes(node):
        yield from _untranslated(child)


def test_threads_inherit_the_language_of_the_request(
    modules: Mapping[str, ast.Module],
) -> None:
    """`console.ui.core.threads.in_thread` passes the language on; other threads use the default
    language.
    """
    wrong = [
        f"{name}:{node.lineno}"
        for name, module in modules.items()
        if not _SAYS_NOTHING_IN_THREADS.fullmatch(name)
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and _OTHER_THREADS.fullmatch(ast.unparse(node.func))
    ]
    assert not wrong, wrong


def test_translated_texts_are_formatted_after_the_lookup(modules: Mapping[str, ast.Module]) -> None:
    """The catalog contains the text with its placeholders, so a formatted text would not be found."""
    wrong = [
        f"{name}: {ast.unparse(text)}"
        for name, module in modules.items()
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and _LOOKED_UP.fullmatch(ast.unparse(node.func))
        for text in node.args
        if _is_filled_in(text)
    ]
    assert not wrong, "\n".join(wrong)


def _is_filled_in(text: ast.expr) -> bool:
    match text:
        case ast.JoinedStr() | ast.BinOp(op=ast.Mod()):
            return True
        case ast.Call(func=ast.Attribute(attr="format")):
            return True
    return False


def test_no_label_is_untranslated(modules: Mapping[str, ast.Module]) -> None:
    wrong = [f"{name}: {text}" for name, module in modules.items() for text in _labels(module)]
    assert not wrong, "\n".join(wrong)


def _labels(module: ast.Module) -> Iterator[str]:
    """Return the untranslated words passed as arguments or set as attributes with these names."""
    for node in ast.walk(module):
        match node:
            case (
                ast.keyword(arg=name, value=ast.Constant(value=str(text)))
                | ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text)))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str(text)))
            ):
                if name in _GIVEN and re.match("[A-Z][a-z]", text):
                    yield text


def test_no_text_beside_translated_ones_is_untranslated(
    modules: Mapping[str, ast.Module],
) -> None:
    """The texts of one table, list or choice are either all displayed or all internal."""
    wrong = [
        f"{name}: {text}"
        for name, module in modules.items()
        if not _FOR_PROGRAMS.match(name)
        for node in ast.walk(module)
        for alike in _alike(node)
        for text in _beside_translated(alike)
    ]
    assert not wrong, "\n".join(wrong)


def _alike(node: ast.AST) -> Iterator[Sequence[ast.expr | None]]:
    """Return groups of similar values: the values of a dict, the items of a list, the first and the
    second elements of several pairs, and the two branches of a conditional expression.
    """
    match node:
        case ast.Dict(values=values):
            yield values
        case ast.IfExp(body=one, orelse=other):
            yield (one, other)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            rows = [item.elts for item in items if isinstance(item, ast.Tuple)]
            yield from zip(*rows, strict=False)
            if isinstance(node, ast.List):
                yield items


def _beside_translated(alike: Sequence[ast.expr | None]) -> Iterator[str]:
    """Return the words that are untranslated beside a translated one."""
    calls = (ast.unparse(one.func) for one in alike if isinstance(one, ast.Call))
    if any(map(_TRANSLATED.fullmatch, calls)):
        for one in alike:
            match one:
                case ast.Constant(value=str(text)) if re.match("[A-Z][a-z]", text):
                    yield text


def test_texts_evaluated_at_import_are_translated_lazily(
    modules: Mapping[str, ast.Module],
) -> None:
    """No language is active when a module or class is created, so such texts must use
    `gettext_lazy`.
    """
    wrong = [
        f"{name}: {call}"
        for name, module in modules.items()
        for call in _at_import(module, _names_of_gettext(module))
    ]
    assert not wrong, "\n".join(wrong)


def _names_of_gettext(module: ast.Module) -> frozenset[str]:
    """Return the names under which the module calls non-lazy translation functions."""
    imports = (node for node in ast.walk(module) if isinstance(node, ast.ImportFrom))
    names = (one for node in imports for one in node.names if _AT_ONCE.fullmatch(one.name))
    return frozenset(one.asname or one.name for one in names)


def _at_import(node: ast.AST, names: Collection[str]) -> Iterator[str]:
    """Return the translations evaluated when the module is imported."""
    children: Iterable[ast.AST]
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            given = node.args
            children = (*node.decorator_list, *given.defaults, *filter(None, given.kw_defaults))
        case ast.Lambda():
            children = ()
        case _:
            children = ast.iter_child_nodes(node)
    if isinstance(node, ast.Call) and ast.unparse(node.func) in names:
        yield ast.unparse(node)
    for child in children:
        yield from _at_import(child, names)


#: Code that inspects the message of an error without displaying it.
_LOOKS = re.compile(r"log\.\w+|\w+\.search|_fields|quota_error_part|recording\.set_outcome")
#: Errors that describe an invalid URL, or whose message is stored independently of a language.
_NOT_TOLD = re.compile(
    r"console/(kube/.*|audit/trail|draining/runner|ui/fragments/empty_states|views/lists)\.py"
)


def test_displayed_error_messages_are_translated(
    modules: Mapping[str, ast.Module],
) -> None:
    """Errors of the core are English sentences. Code that displays one must translate it
    (`translate_message`).
    """
    wrong = [
        f"{name}: {text}"
        for name, module in modules.items()
        if not _NOT_TOLD.match(name)
        for text in _unspoken(module)
    ]
    assert not wrong, "\n".join(wrong)


def _unspoken(node: ast.AST) -> Iterator[str]:
    """Return the error messages that are neither translated nor only inspected."""
    match node:
        case ast.Compare():
            return
        case ast.Call(func=func) if re.fullmatch(
            rf"translate_message|{_LOOKS.pattern}", ast.unparse(func)
        ):
            return
        case ast.Attribute(value=ast.Name(id="error" | "failure"), attr="message" | "sentence"):
            yield ast.unparse(node)
    for child in ast.iter_child_nodes(node):
        yield from _unspoken(child)
