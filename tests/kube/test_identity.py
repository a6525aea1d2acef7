"""Names that may be impersonated, and those that never are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube.identity import Identity, InvalidIdentity


@pytest.mark.parametrize(
    "name", ["", " ", "alice ", " alice", "al\nice", "al\rice", "al\0ice", "ålice", "system:admin"]
)
def it_refuses(name: str) -> None:
    with pytest.raises(InvalidIdentity):
        Identity(name)
    with pytest.raises(InvalidIdentity):
        Identity("alice", ("team", name))


def it_sends_the_user_and_each_group() -> None:
    assert Identity("alice", ("team-a", "team,b")).headers() == [
        ("Impersonate-User", "alice"),
        ("Impersonate-Group", "team-a"),
        ("Impersonate-Group", "team,b"),
        ("Impersonate-Group", "system:authenticated"),
    ]


@given(st.text())
def it_makes_headers_that_survive_the_wire_or_none(name: str) -> None:
    try:
        identity = Identity(name)
    except InvalidIdentity:
        return
    (_, value), *_ = identity.headers()
    assert value == name
    assert value.encode("latin-1").decode("ascii").strip() == name
