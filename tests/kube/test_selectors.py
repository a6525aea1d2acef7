"""Label and field selectors as defined by Kubernetes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube.selectors import SelectorError, is_qualified, parse_fields, parse_labels

LABELS = {"app": "web", "tier": "front", "example.com/size": "7", "empty": ""}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("app=web", True),
        ("app==web", True),
        ("app = web , tier = front", True),
        ("app=web,tier=back", False),
        ("app!=web", False),
        ("app!=api", True),
        ("absent!=x", True),
        ("app", True),
        ("absent", False),
        ("!absent", True),
        ("!app", False),
        ("app in (web,api)", True),
        ("app in (api)", False),
        ("absent in (x)", False),
        ("app notin (api, db)", True),
        ("app notin (web)", False),
        ("absent notin (x)", True),
        ("example.com/size>6", True),
        ("example.com/size<7", False),
        ("app>1", False),
        ("empty=", True),
        ("empty in ()", True),
        ("absent=", False),
        ("app in (web,api),tier notin (back),!absent", True),
    ],
)
def test_labels_are_matched(text: str, expected: bool) -> None:
    assert parse_labels(text).matches(LABELS) is expected


@pytest.mark.parametrize(
    "text",
    ["a=b,,c", "a in (b", "a in b)", "a in ((b))", "-a=b", "a=b c", "a/b/c=d", "UP/x", "a>b", ","],
)
def test_invalid_label_selector_is_refused(text: str) -> None:
    with pytest.raises(SelectorError):
        parse_labels(text)


def test_invalid_label_key_or_value_is_refused() -> None:
    with pytest.raises(SelectorError, match="is not a valid label value"):
        parse_labels(f"a={'x' * 64}")
    with pytest.raises(SelectorError, match="is not a valid label name"):
        parse_labels(f"{'x' * 64}=a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("metadata.name=pod-1", True),
        ("metadata.name==pod-1,status.phase!=Failed", True),
        ("status.phase=Failed", False),
        ("spec.nodeName=", True),
        ("spec.nodeName!=", False),
        (r"odd=a\,b\=c\\d", True),
        (r"odd=a\,b", False),
    ],
)
def test_fields_are_matched(text: str, expected: bool) -> None:
    fields = {"metadata.name": "pod-1", "status.phase": "Running", "odd": r"a,b=c\d"}
    assert parse_fields(text).matches(fields.get) is expected


@pytest.mark.parametrize("text", ["name", "=x", r"a=b\c", "a=b=c", "a=b\\"])
def test_invalid_field_selector_is_refused(text: str) -> None:
    with pytest.raises(SelectorError):
        parse_fields(text)


KEYS = st.from_regex(r"[a-z]([a-z0-9-]{0,5}[a-z0-9])?", fullmatch=True)
VALUES = st.from_regex(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,5}[A-Za-z0-9])?)?", fullmatch=True)


@given(KEYS, st.sampled_from(["in", "notin"]), st.lists(VALUES, min_size=1, max_size=3), VALUES)
def test_formatted_selector_round_trips(key: str, op: str, values: list[str], found: str) -> None:
    selector = parse_labels(f"{key} {op} ({','.join(values)})")
    again = parse_labels(str(selector))
    assert again == selector
    assert again.matches({key: found}) is ((found in values) == (op == "in"))


@given(st.text(max_size=20))
def test_escaped_field_value_round_trips(value: str) -> None:
    selector = parse_fields(
        "a=" + value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
    )
    assert str(parse_fields(str(selector))) == str(selector)
    if value.strip() == value:
        assert selector.matches({"a": value}.get)


@given(st.text(max_size=20))
def test_any_text_is_parsed_or_raises_selector_error(text: str) -> None:
    for parse in (parse_labels, parse_fields):
        try:
            parse(text)
        except SelectorError as error:
            assert str(error)


@pytest.mark.parametrize(
    ("key", "expected"),
    [("app", True), ("example.com/size", True), ("a b", False), ("a/b/c", False), ("", False)],
)
def test_qualified_label_keys_are_recognized(key: str, expected: bool) -> None:
    assert is_qualified(key) is expected
