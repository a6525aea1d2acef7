"""Marks in the original text of the editor, which stand for masked values."""

from copy import deepcopy
from typing import Any

import pytest
from pytest_django import Settings

from console.kinds.configmaps import ConfigMapKind
from console.kinds.secrets import SecretKind
from console.ui.core.manifests import MASK
from console.ui.editing.manifest import marked, with_marks, without_marks

SECRET: dict[str, Any] = {
    "metadata": {"name": "login", "uid": "u-1"},
    "data": {"a": "MQ==", "b": "MQ==", "c": "Mg=="},
}


def marks(**changes: Any) -> dict[str, str]:
    manifest = deepcopy(SECRET)
    manifest["metadata"] |= changes.get("metadata", {})
    manifest["data"] |= changes.get("data", {})
    found: dict[str, str] = marked(SecretKind(), manifest)["data"]
    return found


def test_a_mark_depends_on_object_key_and_value_and_does_not_contain_the_value() -> None:
    found = marks()
    assert (
        len({*found.values(), marks(metadata={"uid": "u-2"})["a"], marks(data={"a": "Mg=="})["a"]})
        == 5
    )
    assert found == marks(metadata={"resourceVersion": "2"})
    assert all(mark.startswith(MASK) and "M" not in mark for mark in found.values())


def test_marks_depend_on_the_secret_key(settings: Settings) -> None:
    before = marks()
    settings.SECRET_KEY = "another"
    assert not set(before.values()) & set(marks().values())


def test_only_placeholders_of_marked_values_get_marks_and_lose_them() -> None:
    kind, base = SecretKind(), marked(SecretKind(), SECRET)
    mine = {"metadata": {"name": MASK}, "data": {"a": MASK, "b": "Mw==", "new": MASK}}
    found = with_marks(mine, base)
    assert found == {**mine, "data": {**mine["data"], "a": base["data"]["a"]}}
    assert without_marks(kind, found) == mine


@pytest.mark.parametrize("text", [f"{MASK}{'0' * 32}", MASK])
def test_values_of_kinds_without_masks_are_unchanged(text: str) -> None:
    manifest = {"metadata": {"name": "m"}, "data": {"a": text}}
    kind = ConfigMapKind()
    assert marked(kind, manifest) == manifest and without_marks(kind, manifest) == manifest
