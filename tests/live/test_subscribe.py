"""Strict parsing of subscription messages."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.live.subscribe import BadMessage, language, read_message
from console.live.view import ClientState

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def read(text: str) -> bool:
    """Return True if the message is valid, False if it raises a known error. Other exceptions
    propagate.
    """
    try:
        read_message(text)
    except BadMessage as error:
        assert error.code in (400, 404)
        assert str(error)
        return False
    return True


def test_valid_subscription_is_parsed() -> None:
    found = read_message('{"subscribe":"/clusters/host/pods?q=a","etag":"e","lang":"zh-Hans"}')
    assert found is not None
    assert (found.place.url, found.known, found.lang) == (
        "/clusters/host/pods?q=a",
        ClientState("e"),
        "zh-hans",
    )


def test_rows_of_the_browser_are_parsed() -> None:
    found = read_message(
        '{"subscribe":"/clusters/host/pods","etag":"e","rows":[["b/x","1"],["2","2"]]}'
    )
    assert found is not None
    assert found.known.rows is not None
    assert list(found.known.rows.items()) == [("b/x", "1"), ("2", "2")]
    for rows in ('["a"]', '{"a":"1"}', '[["a"]]', '[["a",1]]', '[["a","1","2"]]', '"a"', "5"):
        assert not read(f'{{"subscribe":"/clusters/host/pods","rows":{rows}}}')


def test_pause_message_is_matched_exactly() -> None:
    assert read_message('{"pause": true}') is None
    for text in (
        '{"pause":1}',
        '{"pause":false}',
        '{"pause":true,"subscribe":"/clusters/host/pods"}',
    ):
        assert not read(text)


@given(st.text())
def test_any_text_is_handled(text: str) -> None:
    read(text)


@given(
    st.fixed_dictionaries(
        {}, optional={"subscribe": json_values, "etag": json_values, "x": json_values}
    )
)
def test_any_object_is_refused(message: dict[str, object]) -> None:
    assert not read(msgspec.json.encode(message).decode())


@pytest.mark.parametrize(
    ("tag", "expected"),
    [("en", "en"), ("zh-Hans", "zh-hans"), ("zh-Hans-CN", "zh-hans"), ("de", "en"), ("", "en")],
)
def test_language_tags_are_mapped_to_supported_languages(tag: str, expected: str) -> None:
    assert language(tag) == expected
