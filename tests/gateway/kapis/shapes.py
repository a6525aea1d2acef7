"""Shapes of responses of KubeSphere's API."""

from collections.abc import Callable
from typing import Any

#: Raises AssertionError if the decoded response has another shape.
Shape = Callable[[Any], None]


def objects(found: Any) -> None:
    """A list of v1alpha3."""
    assert set(found) == {"items", "totalItems"}
    assert len(found["items"]) <= found["totalItems"]
    assert all(
        one["metadata"]["name"] and one["kind"] and one["apiVersion"] for one in found["items"]
    )


def some(found: Any) -> None:
    """A list of v1alpha3 that isn't empty."""
    objects(found)
    assert found["items"]


def none(found: Any) -> None:
    assert found == {"items": [], "totalItems": 0}


def old_objects(found: Any) -> None:
    """A list of v1alpha2."""
    assert set(found) == {"items", "total_count"}
    assert len(found["items"]) <= found["total_count"]


def array(found: Any) -> None:
    assert isinstance(found, list)


def of_kind(kind: str) -> Shape:
    def check(found: Any) -> None:
        assert (found["kind"], bool(found["metadata"]["name"])) == (kind, True)

    return check


def fields(*names: str) -> Shape:
    def check(found: Any) -> None:
        assert set(names) <= set(found), found

    return check


def status(code: int) -> Shape:
    def check(found: Any) -> None:
        assert (found["kind"], found["status"], found["code"]) == ("Status", "Failure", code)
        assert found["message"]

    return check


def done(found: Any) -> None:
    assert found == {"message": "success"}
