"""Validation errors of kube-apiserver at the fields of a form."""

import re
from typing import Any

import pytest
from django.http import QueryDict
from django.utils import translation

from console.audit.trail import AuditUnavailable
from console.kube.errors import (
    ApiError,
    Conflict,
    Invalid,
    NotFound,
    ObjectRecreated,
    Unavailable,
    error_from_status,
)
from console.kube.gvr import SECRETS
from console.kube.messages import Message
from console.logs import access
from console.terminals import consumer
from console.ui.core.manifests import MASK
from console.ui.core.registry import kinds
from console.ui.editing.manifest import (
    MOST_PROBLEMS,
    InvalidManifest,
    ParsedManifest,
    unmasked,
    unresolved_masks,
)
from console.ui.editing.yaml_text import read_document
from console.ui.forms.forms import ConsoleForm, TextField
from console.views import problems
from console.views.line_problems import line_problems
from tests.support.cputime import at_most

CAUSES = {
    "metadata.name": "name",
    "spec.rules[*]": "rules",
    "spec.rules[*].host": "host",
    "metadata.labels[*]": "labels",
}


class AForm(ConsoleForm):
    error_fields = CAUSES
    name, rules, host, labels = (TextField(required=False) for _ in range(4))


def form() -> AForm:
    return AForm(QueryDict())


def refused(*causes: Any) -> AForm:
    found = form()
    details = {"causes": list(causes)}
    problems.add_form_errors(
        Invalid(422, "no", status={"message": "no", "details": details}), found
    )
    return found


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("metadata.name", "name"),
        ("spec.rules[3].host", "host"),
        ("spec.rules[3].host.more", "host"),
        ("spec.rules[3].path", "rules"),
        ("metadata.labels[example.com/a.b]", "labels"),
    ],
)
def test_cause_is_shown_at_the_field_of_its_path(path: str, name: str) -> None:
    found = refused({"field": path, "message": "Too \u202elong"})
    assert found.errors == {name: ["Too ⟨U+202E⟩long"]}
    assert found.page_status == 422


@pytest.mark.parametrize(
    "path", ["", "metadata", "metadata.names", "spec.rules", "spec.rules[", "..", "[", "]"]
)
def test_other_causes_are_shown_above_the_form(path: str) -> None:
    found = refused({"field": "metadata.name", "message": "a"}, {"field": path, "message": "b"})
    assert found.errors == {"name": ["a"], "__all__": ["The cluster rejected the request. no"]}


@pytest.mark.parametrize(
    "causes", [None, 7, "x", [], [None], [{}], [{"message": ""}], [{"field": ["x"]}], {"a": 1}]
)
def test_malformed_causes_are_handled(causes: Any) -> None:
    for details in ({"causes": causes}, causes):
        found = form()
        problems.add_form_errors(ApiError(422, "no", status={"details": details}), found)
        assert list(found.errors) == ["__all__"]


def test_repeated_cause_is_shown_once() -> None:
    cause = {"field": "metadata.name", "message": "Snapshot time"}
    assert refused(cause, cause).errors == {"name": ["Snapshot time"]}


def test_caller_can_override_the_message() -> None:
    assert problems.error_text(NotFound(404, "x")).startswith("The object no longer exists.")
    assert problems.error_text(NotFound(404, "x"), gone="No more.") == "No more. x"
    assert problems.error_text(Conflict(409, "x"), changed="Changed.") == "Changed. x"
    assert problems.error_text(Unavailable("x"), unsure="Who knows.") == "Who knows. x"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            Unavailable(Message("The response from the Kubernetes API was incomplete")),
            "Kubernetes API 的响应不完整",
        ),
        (error_from_status(418, {}), "kube-apiserver 返回 418"),
        (ObjectRecreated(), "该对象已被同名的另一个对象取代。"),
    ],
)
def test_core_messages_are_translated(error: ApiError, told: str) -> None:
    found = form()
    with translation.override("zh-hans"):
        problems.add_form_errors(error, found)
        text = found.non_field_errors().as_text()
    assert told in text and not re.search(
        "[A-Za-z]{2}", re.sub("kube-apiserver|Kubernetes API", "", text)
    )


def test_fallback_messages_of_refused_requests_are_translated() -> None:
    error, told = error_from_status(400, {}), "kube-apiserver 返回 400"
    with translation.override("zh-hans"):
        assert access.log_error_text(error) == consumer.terminal_error_text(error) == told
        [problem] = line_problems(error, ParsedManifest(read_document("a: 1"), {}), str)
    assert problem.text == told


def test_unavailable_audit_trail_is_reported() -> None:
    found = form()
    problems.add_form_errors(AuditUnavailable(), found)
    text = "No changes were made because the audit trail cannot be written."
    assert found.page_status == 503 and found.errors == {"__all__": [text]}


def test_thousands_of_invalid_fields_are_limited_and_fast() -> None:
    """Each one is located in the text, and kube-apiserver lists all of them."""
    names = [f"wrong{number}" for number in range(10_000)]
    text = "spec:\n" + "".join(f"  {name}: 1\n" for name in names)
    told = ", ".join(f'unknown field "spec.{name}"' for name in names)
    with at_most(1):
        found = line_problems(ApiError(400, told), ParsedManifest(read_document(text), {}), str)
    assert len(found) == MOST_PROBLEMS
    assert (found[7].line, found[7].text) == (9, "spec.wrong7: unknown field")


def test_thousands_of_placeholders_are_limited_and_fast() -> None:
    kind = kinds.by_type(SECRETS)
    assert kind is not None
    text = "data:\n" + "".join(f"  k{number}: {MASK}\n" for number in range(10_000))
    document = read_document(text)
    found = ParsedManifest(document, document.value)
    with at_most(2):
        assert len(list(unresolved_masks(found, kind))) == MOST_PROBLEMS
        with pytest.raises(InvalidManifest) as caught:
            unmasked(found, {"metadata": {}}, kind)
    assert len(caught.value.problems) == MOST_PROBLEMS
