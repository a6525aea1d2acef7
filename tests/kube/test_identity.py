"""Names that may be impersonated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube.identity import Identity, InvalidIdentity


@pytest.mark.parametrize(
    "name", ["", " ", "alice ", " alice", "al\nice", "al\rice", "al\0ice", "ålice", "system:admin"]
)
def test_protected_or_malformed_identity_is_refused(name: str) -> None:
    with pytest.raises(InvalidIdentity):
        Identity(name)
    with pytest.raises(InvalidIdentity):
        Identity("alice", ("team", name))


def test_user_and_each_group_become_headers() -> None:
    assert Identity("alice", ("team-a", "team,b")).headers() == [
        ("Impersonate-User", "alice"),
        ("Impersonate-Group", "team-a"),
        ("Impersonate-Group", "team,b"),
        ("Impersonate-Group", "system:authenticated"),
    ]


@given(st.text())
def test_header_values_round_trip_or_are_refused(name: str) -> None:
    try:
        identity = Identity(name)
    except InvalidIdentity:
        return
    (_, value), *_ = identity.headers()
    assert value == name
    assert value.encode("latin-1").decode("ascii").strip() == name
