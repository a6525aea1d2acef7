"""A merge patch puts a list in the place of another one whole: what somebody else has added to that since
it was read would be lost. So whatever the console writes with a list says of which version it was made,
and kube-apiserver refuses it if there is another one by now. That is looked at in every test."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.client import MERGE_PATCH, ObjectClient


def check_lists(body: Any) -> None:
    """Of a merge patch."""
    if _has_list(body) and not body.get("metadata", {}).get("resourceVersion"):
        raise AssertionError(f"a list is written over whatever is there by now: {body}")


def _has_list(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_list, value.values()))
    return isinstance(value, list)


@pytest.fixture(scope="session", autouse=True)
def _lists_are_of_a_version() -> Iterator[None]:
    """Tests themselves write what they like."""
    patch = ObjectClient.patch

    def checked(self: ObjectClient, gvr: Any, body: Any, **given: Any) -> Any:
        by_test = sys._getframe(1).f_globals["__name__"].startswith("tests.")
        if not by_test and given.get("content_type", MERGE_PATCH) == MERGE_PATCH:
            check_lists(body)
        return patch(self, gvr, body, **given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ObjectClient, "patch", checked)
        yield
