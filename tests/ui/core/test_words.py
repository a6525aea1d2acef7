"""Every status word of projections and every message of the core is in the catalog."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.utils import translation

from console import kube
from console.kube import projections
from console.kube.errors import ApiError, Unavailable, error_from_status
from console.kube.gvr import PODS
from console.kube.informer import Informer
from console.kube.messages import Message
from console.kube.status import Severity
from console.ui.core.object_source import live_state
from console.ui.core.registry import kinds
from console.ui.core.words import (
    SENTENCES,
    SEVERITY_WORDS,
    STATUS_WORDS,
    translate,
    translate_message,
)
from console.ui.fragments.empty_states import loading_block
from tests.support.informers import preloaded

PROJECTIONS = sorted(Path(projections.__path__[0]).glob("*.py"))
#: Functions whose arguments are shown to users.
TELLING = {"disconnected", "ApiError", *(error.__name__ for error in ApiError.__subclasses__())}
#: Proper names, identical in every language.
NAMES = re.compile(
    "kube-apiserver|kubeconfig|kubelet|Kubernetes|API|MiB|OpenAPI|WebSocket|YAML|RoleBase"
    "|quarterdeck-(?:console|system)"
)


def _states(path: Path) -> set[tuple[str, str]]:
    """Return severity and word of each `Status(...)` with constant arguments in a module."""
    return {
        (ast.unparse(node.args[0]), leaf.value)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Status"
        for leaf in ast.walk(node.args[1])
        if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)
    }


@pytest.mark.parametrize("path", PROJECTIONS, ids=lambda path: path.stem)
def test_every_state_of_a_kind_has_one_severity(path: Path) -> None:
    """Kinds of the same module use the same words. "Active" is a default for some of them."""
    words = [word for _severity, word in _states(path) if word != "Active"]
    assert sorted(words) == sorted(set(words))


def test_every_status_word_is_listed() -> None:
    spoken = {word for path in PROJECTIONS for _severity, word in _states(path)}
    assert "Crash loop" in spoken
    assert spoken <= STATUS_WORDS


def test_every_severity_has_a_word() -> None:
    assert set(SEVERITY_WORDS) == set(Severity)


def test_words_are_translated_when_displayed() -> None:
    word = translate("Crash loop")
    with translation.override("en"):
        assert str(word) == "Crash loop"


def _calls() -> Iterator[tuple[str, list[ast.expr]]]:
    """Yield function and arguments of every call in the core."""
    for path in (
        *Path(kube.__path__[0]).rglob("*.py"),
        *Path("workspaces/controllers").rglob("*.py"),
    ):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                yield name, [*node.args, *(keyword.value for keyword in node.keywords)]


def test_every_message_of_the_core_is_listed() -> None:
    told = [args[0] for name, args in _calls() if name in ("Message", "SelectorError")]
    # `SelectorError` passes its argument on.
    assert [ast.unparse(arg) for arg in told if not isinstance(arg, ast.Constant)] == ["template"]
    assert {arg.value for arg in told if isinstance(arg, ast.Constant)} == SENTENCES


def test_errors_of_the_core_use_messages_only() -> None:
    plain = [
        ast.unparse(arg)
        for name, args in _calls()
        if name in TELLING
        for arg in args
        if isinstance(arg, ast.JoinedStr)
        or (isinstance(arg, ast.Constant) and isinstance(arg.value, str))
    ]
    assert plain == []


def _stale(problem: str) -> Informer[Any]:
    informer = preloaded(PODS)
    informer.disconnected(problem)
    return informer


@pytest.mark.parametrize("template", sorted(SENTENCES))
@pytest.mark.parametrize("part", ["ui/_banner.html", "ui/_freshness.html"])
def test_each_message_is_shown_in_chinese(template: str, part: str) -> None:
    params = dict.fromkeys(re.findall(r"%\((\w+)\)s", template), "77")
    sentence = Message(template, **params)
    live = live_state(_stale(sentence))
    assert sentence in render_to_string(part, {"live": live}).replace("&#x27;", "'")
    with translation.override("zh-hans"):
        html = render_to_string(part, {"live": live})
    [told] = re.findall(r'(?:class="problem">|data-problem=")([^<"]+)', html)
    assert not re.search("[A-Za-z]{2}", NAMES.sub("", told))
    assert told.count("77") == len(params)


def test_nested_message_is_translated() -> None:
    why = Message(
        "No response from the Kubernetes API: %(why)s", why=Message("the request timed out")
    )
    problem = Message("%(namespace)s: %(problem)s", namespace="team-a", problem=why)
    assert problem == "team-a: No response from the Kubernetes API: the request timed out"
    with translation.override("zh-hans"):
        assert translate_message(problem) == "team-a：Kubernetes API 没有响应：请求超时"


def test_error_keeps_its_message() -> None:
    with translation.override("zh-hans"):
        assert (
            translate_message(
                Unavailable(Message("The response from the Kubernetes API was incomplete")).message
            )
            == "Kubernetes API 的响应不完整"
        )
        assert translate_message(error_from_status(500, {}).message) == "kube-apiserver 返回 500"


def test_messages_of_kube_apiserver_are_not_translated() -> None:
    """Even if the catalog contains them or they look like a template."""
    with translation.override("zh-hans"):
        for said in ("This list is closed", "100% (of) %(why)s"):
            assert translate_message(error_from_status(500, {"message": said}).message) == said


def test_unsynced_list_explains_the_reason_in_chinese() -> None:
    kind = kinds.by_type(PODS)
    assert kind is not None
    with translation.override("zh-hans"):
        block = loading_block(kind, Message("The Kubernetes API closed the connection"))
    assert block.reason == "Kubernetes API 断开了连接"
