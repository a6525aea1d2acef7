"""The draft repository: owners, content, limits and expiry."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from console.drafts import store
from console.drafts.models import Draft
from console.drafts.store import (
    LIFETIME,
    MAX_DRAFTS,
    DraftConflict,
    DraftContent,
    DraftKey,
    delete_all_of,
    delete_draft,
    find,
    store_draft,
)

pytestmark = pytest.mark.django_db

OURS = DraftKey("editor", "host", "secrets", "shop", "login")
TEXT = DraftContent("password: hunter2", "password: x", "uid-1")


def test_draft_is_found_only_by_its_owner() -> None:
    assert find(OURS) is None
    assert store_draft(OURS, TEXT, 0) == 1
    found = find(OURS)
    assert found is not None and (found.content, found.version) == (TEXT, 1)
    for other in (
        DraftKey("eve", "host", "secrets", "shop", "login"),
        DraftKey("editor", "other", "secrets", "shop", "login"),
        DraftKey("editor", "host", "secrets", "other", "login"),
        DraftKey("editor", "host", "pods", "shop", "login"),
    ):
        assert find(other) is None
    delete_draft(OURS)
    assert find(OURS) is None


def test_draft_is_encrypted_in_the_database(settings: Settings) -> None:
    store_draft(OURS, TEXT, 0)
    row = Draft.objects.get()
    assert "hunter2" not in row.content and "password" not in row.content
    settings.SECRET_KEY = "another-key-of-some-length-that-is-not-the-one-before"
    assert find(OURS) is None


def test_long_text_is_compressed() -> None:
    text = "".join(f"- line {at}\n" for at in range(100_000))
    store_draft(OURS, DraftContent(text + "more", text, "u"), 0)
    assert len(Draft.objects.get().content) < len(text)
    found = find(OURS)
    assert found is not None and found.content == DraftContent(text + "more", text, "u")


def test_newer_draft_is_not_overwritten() -> None:
    first, second = store_draft(OURS, TEXT, 0), store_draft(OURS, DraftContent("2", "b", "u"), 1)
    assert (first, second) == (1, 2)
    for version in (0, 1, 3):
        with pytest.raises(DraftConflict):
            store_draft(OURS, DraftContent("old", "b", "u"), version)
    found = find(OURS)
    assert found is not None and found.content.text == "2"
    # After the draft was saved or discarded elsewhere, nothing can be lost.
    delete_draft(OURS)
    assert store_draft(OURS, TEXT, 2) == 3


def test_oldest_draft_is_removed_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_DRAFTS", 3)
    for at in range(5):
        store_draft(DraftKey("editor", "host", "pods", "shop", f"p{at}"), TEXT, 0)
    store_draft(DraftKey("eve", "host", "pods", "shop", "p"), TEXT, 0)
    left = Draft.objects.filter(account="editor").order_by("pk")
    assert [draft.name for draft in left] == ["p2", "p3", "p4"]
    assert Draft.objects.count() == 4 and MAX_DRAFTS == 50
    delete_all_of("editor")
    assert [draft.account for draft in Draft.objects.all()] == ["eve"]


def test_proposals_do_not_displace_drafts_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_WITH_PROPOSALS", 2)
    store_draft(OURS, TEXT, 0)
    proposals = [DraftKey("editor", "host", store.NEW, "", f"#{at}") for at in range(2)]
    version = store_draft(proposals[0], DraftContent("a", proposal="x"), 0)
    with pytest.raises(store.TooManyDrafts):
        store_draft(proposals[1], DraftContent("b", proposal="x"), 0)
    # An existing proposal can be edited, and the user can add drafts.
    store_draft(proposals[0], DraftContent("c", proposal="x"), version)
    store_draft(DraftKey("editor", "host", "pods", "shop", "p"), TEXT, 0)
    assert Draft.objects.filter(account="editor").count() == 3


def test_drafts_expire_after_a_month() -> None:
    store_draft(OURS, TEXT, 0)
    Draft.objects.update(updated=timezone.now() - LIFETIME - timedelta(minutes=1))
    assert find(OURS) is None
    store_draft(DraftKey("eve", "host", "pods", "shop", "p"), TEXT, 0)
    assert [draft.account for draft in Draft.objects.all()] == ["eve"]


def test_every_object_name_has_its_own_draft() -> None:
    """In columns of any database: kube-apiserver accepts nearly any role name of any length."""
    names = ("a" * 5_000, "a" * 4_999, "a\0", "a")
    places = [DraftKey("editor", "host", "clusterroles", "", name) for name in names]
    for number, place in enumerate(places):
        store_draft(place, DraftContent(str(number), "b", "u"), 0)
    assert [found.content.text for place in places if (found := find(place))] == [
        "0",
        "1",
        "2",
        "3",
    ]
    for row in Draft.objects.all():
        assert len(row.name) <= 253 and "\0" not in row.name
