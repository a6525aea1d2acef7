"""Messages are read strictly, whatever is sent."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from console.live.subscribe import BadMessage, language, read_message

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
    assert (found.place.spec.url, found.etag, found.lang) == (
        "/clusters/host/pods?q=a",
        "e",
        "zh-hans",
    )


@hypothesis_settings(max_examples=200)
@given(st.text())
def test_any_text(text: str) -> None:
    read(text)


@hypothesis_settings(max_examples=200)
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
