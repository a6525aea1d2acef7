"""What the console's own code says is translated, when somebody reads it."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import pytest

from console.ui.words import STATUS_WORDS
from tests.unit.templates.files import ROOT
from tests.unit.templates.test_locale import PACKAGES

#: What gives texts to the translation, and what only operators or programs read.
_LOOKED_UP = re.compile(r"_|n?p?gettext(_lazy|_noop)?|Sentence|SelectorError")
_TRANSLATED = re.compile(rf"{_LOOKED_UP.pattern}|log\.\w+")
_FOR_PROGRAMS = re.compile(
    r"accounts/(oauth/|federation/backchannel\.py)|console/(metrics/|live/counters\.py)"
    r"|.*/(management|migrations)/"
)
#: Phrases that stay English: objects' conditions, what the audit trail is told, and Kubernetes' own.
_IN_ENGLISH = re.compile(
    r"accounts/(bootstrap\.py|kubeconfigs/csr\.py|users/)|rbac/platform\.py"
    r"|console/(audit/trail\.py|kube/leader\.py|proxying/closing\.py|streams/stream\.py|server\.py)"
    r"|console/ui/(attention|scheduling)\.py"
)
_AT_ONCE = re.compile("n?p?gettext")
#: Threads that do not begin with the language of who began them, and where they are for no text.
_OTHER_THREADS = re.compile(r"(.*\.)?(run_in_executor|to_thread|Thread|ThreadPoolExecutor)")
_SAYS_NOTHING_IN_THREADS = re.compile(
    r"accounts/(providers/directory|signin/passwords)\.py|console/(handler\.py|kube/.*)|devcluster/.*"
)
_SENTENCE = re.compile(r"[A-Z].*[a-z] .*[.!?…]", re.DOTALL)
_PHRASE = re.compile(r"[A-Z][a-z]+(?= .*\b[a-z]{2})( [\w%(){},'-]+)+")
#: What fields, pages and actions are given to say, also in less than a sentence.
_GIVEN = {"label", "help_text", "title", "title_text", "button", "button_text", "about"}


@pytest.fixture(scope="module")
def modules() -> Mapping[str, ast.Module]:
    """By path from the root."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text())
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }


def test_no_sentence_and_no_phrase_is_left_untranslated(modules: Mapping[str, ast.Module]) -> None:
    wrong = [
        f"{name}: {text}"
        for name, module in modules.items()
        if not _FOR_PROGRAMS.match(name)
        for text in _untranslated(module)
        if _SENTENCE.fullmatch(text)
        or (_PHRASE.fullmatch(text) and text not in STATUS_WORDS and not _IN_ENGLISH.match(name))
    ]
    assert not wrong, "\n".join(wrong)


def _untranslated(node: ast.AST) -> Iterator[str]:
    """Its texts, but for those that are given to the translation, and what documents it."""
    if isinstance(node, ast.Call) and _TRANSLATED.fullmatch(ast.unparse(node.func)):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
        return
    for child in ast.iter_child_nodes(node):
        yield from _untranslated(child)


def test_who_is_answered_from_a_thread_is_answered_in_their_language(
    modules: Mapping[str, ast.Module],
) -> None:
    """`console.ui.threads.in_thread` takes it along; other threads know none but the first."""
    wrong = [
        f"{name}:{node.lineno}"
        for name, module in modules.items()
        if not _SAYS_NOTHING_IN_THREADS.fullmatch(name)
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and _OTHER_THREADS.fullmatch(ast.unparse(node.func))
    ]
    assert not wrong, wrong


def test_what_is_looked_up_is_not_filled_in_yet(modules: Mapping[str, ast.Module]) -> None:
    """The catalogue has the text with its gaps: with names and numbers in them nothing is found."""
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


def test_no_label_is_left_untranslated(modules: Mapping[str, ast.Module]) -> None:
    wrong = [f"{name}: {text}" for name, module in modules.items() for text in _labels(module)]
    assert not wrong, "\n".join(wrong)


def _labels(module: ast.Module) -> Iterator[str]:
    """The words that arguments and attributes of these names are, untranslated."""
    for node in ast.walk(module):
        match node:
            case (
                ast.keyword(arg=name, value=ast.Constant(value=str(text)))
                | ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text)))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str(text)))
            ):
                if name in _GIVEN and re.match("[A-Z][a-z]", text):
                    yield text


def test_no_text_among_translated_ones_is_left_untranslated(
    modules: Mapping[str, ast.Module],
) -> None:
    """What one table, list or choice says is either for people or not."""
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
    """What is of one sort: the values of a table, the items of a list, the first of several pairs and the
    second ones, and the two of a choice."""
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
    """Those that are words, where another is translated."""
    calls = (ast.unparse(one.func) for one in alike if isinstance(one, ast.Call))
    if any(map(_TRANSLATED.fullmatch, calls)):
        for one in alike:
            match one:
                case ast.Constant(value=str(text)) if re.match("[A-Z][a-z]", text):
                    yield text


def test_what_is_worked_out_at_import_waits_for_the_readers_language(
    modules: Mapping[str, ast.Module],
) -> None:
    """Nobody reads yet when a module or a class is made: a text there is `gettext_lazy`'s."""
    wrong = [
        f"{name}: {call}"
        for name, module in modules.items()
        for call in _at_import(module, _names_of_gettext(module))
    ]
    assert not wrong, "\n".join(wrong)


def _names_of_gettext(module: ast.Module) -> frozenset[str]:
    """What the module calls the functions that translate at once."""
    imports = (node for node in ast.walk(module) if isinstance(node, ast.ImportFrom))
    names = (one for node in imports for one in node.names if _AT_ONCE.fullmatch(one.name))
    return frozenset(one.asname or one.name for one in names)


def _at_import(node: ast.AST, names: Collection[str]) -> Iterator[str]:
    """The translations that are made when the module is imported."""
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


#: What looks into an error's message without showing it to anybody.
_LOOKS = re.compile(r"log\.\w+|\w+\.search|_fields|words_of|recording\.answered")
#: Of these an error is what is wrong in an address, or what is kept is in nobody's language.
_NOT_TOLD = re.compile(r"console/(kube/.*|audit/trail|draining/running|ui/states|views/lists)\.py")


def test_what_an_error_tells_is_said_in_the_readers_language(
    modules: Mapping[str, ast.Module],
) -> None:
    """The core's errors are English sentences: whoever shows one says it (`spoken`)."""
    wrong = [
        f"{name}: {text}"
        for name, module in modules.items()
        if not _NOT_TOLD.match(name)
        for text in _unspoken(module)
    ]
    assert not wrong, "\n".join(wrong)


def _unspoken(node: ast.AST) -> Iterator[str]:
    """The messages of errors in it that are neither said nor looked into."""
    match node:
        case ast.Compare():
            return
        case ast.Call(func=func) if re.fullmatch(rf"spoken|{_LOOKS.pattern}", ast.unparse(func)):
            return
        case ast.Attribute(value=ast.Name(id="error" | "failure"), attr="message" | "sentence"):
            yield ast.unparse(node)
    for child in ast.iter_child_nodes(node):
        yield from _unspoken(child)
