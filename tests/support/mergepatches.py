"""Check in every test that merge patches with lists contain a resourceVersion.

A JSON merge patch replaces a list as a whole, so an element that another client added after the
read would be lost. With a resourceVersion, kube-apiserver rejects the patch if the object
changed.
"""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.clients import MERGE_PATCH, ObjectClient


def check_lists(body: Any) -> None:
    """Raise AssertionError if a merge patch contains a list but no resourceVersion."""
    if _has_list(body) and not body.get("metadata", {}).get("resourceVersion"):
        raise AssertionError(f"a list is written over whatever is there by now: {body}")


def _has_list(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_list, value.values()))
    return isinstance(value, list)


@pytest.fixture(scope="session", autouse=True)
def _lists_are_of_a_version() -> Iterator[None]:
    """Check the merge patches of the console. Patches written by tests themselves are not checked."""
    patch = ObjectClient.patch

    def checked(self: ObjectClient, gvr: Any, body: Any, **given: Any) -> Any:
        by_test = sys._getframe(1).f_globals["__name__"].startswith("tests.")
        if not by_test and given.get("content_type", MERGE_PATCH) == MERGE_PATCH:
            check_lists(body)
        return patch(self, gvr, body, **given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ObjectClient, "patch", checked)
        yield
