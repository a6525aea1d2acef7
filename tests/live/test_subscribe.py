"""Messages are read strictly, whatever is sent."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.live.subscribe import BadMessage, language, read_message
from console.live.view import Known

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def read(text: str) -> bool:
    """False if it means nothing; anything but that and success is a fault."""
    try:
        read_message(text)
    except BadMessage as error:
        assert error.code in (400, 404)
        assert str(error)
        return False
    return True


def test_a_subscription() -> None:
    found = read_message('{"subscribe":"/clusters/host/pods?q=a","etag":"e","lang":"zh-Hans"}')
    assert found is not None
    assert (found.place.url, found.known, found.lang) == (
        "/clusters/host/pods?q=a",
        Known("e"),
        "zh-hans",
    )


def test_what_a_browser_shows() -> None:
    found = read_message(
        '{"subscribe":"/clusters/host/pods","etag":"e","rows":[["b/x","1"],["2","2"]]}'
    )
    assert found is not None
    assert found.known.rows is not None
    assert list(found.known.rows.items()) == [("b/x", "1"), ("2", "2")]
    for rows in ('["a"]', '{"a":"1"}', '[["a"]]', '[["a",1]]', '[["a","1","2"]]', '"a"', "5"):
        assert not read(f'{{"subscribe":"/clusters/host/pods","rows":{rows}}}')


def test_a_pause_is_that_and_nothing_else() -> None:
    assert read_message('{"pause": true}') is None
    for text in (
        '{"pause":1}',
        '{"pause":false}',
        '{"pause":true,"subscribe":"/clusters/host/pods"}',
    ):
        assert not read(text)


@given(st.text())
def test_any_text(text: str) -> None:
    read(text)


@given(
    st.fixed_dictionaries(
        {}, optional={"subscribe": json_values, "etag": json_values, "x": json_values}
    )
)
def test_any_object(message: dict[str, object]) -> None:
    assert not read(msgspec.json.encode(message).decode())


@pytest.mark.parametrize(
    ("tag", "expected"),
    [("en", "en"), ("zh-Hans", "zh-hans"), ("zh-Hans-CN", "zh-hans"), ("de", "en"), ("", "en")],
)
def test_languages(tag: str, expected: str) -> None:
    assert language(tag) == expected
