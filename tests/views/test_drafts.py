"""The draft repository: owners, content, limits and expiry."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from console.drafts import keeping
from console.drafts.keeping import KEPT, MOST, Content, Newer, Place, find, forget, forget_all, keep
from console.drafts.models import Draft

pytestmark = pytest.mark.django_db

OURS = Place("olga", "host", "secrets", "shop", "login")
TEXT = Content("password: hunter2", "password: x", "uid-1")


def test_draft_is_found_only_by_its_owner() -> None:
    assert find(OURS) is None
    assert keep(OURS, TEXT, 0) == 1
    found = find(OURS)
    assert found is not None and (found.content, found.version) == (TEXT, 1)
    for other in (
        Place("eve", "host", "secrets", "shop", "login"),
        Place("olga", "other", "secrets", "shop", "login"),
        Place("olga", "host", "secrets", "other", "login"),
        Place("olga", "host", "pods", "shop", "login"),
    ):
        assert find(other) is None
    forget(OURS)
    assert find(OURS) is None


def test_draft_is_encrypted_in_the_database(settings: Settings) -> None:
    keep(OURS, TEXT, 0)
    row = Draft.objects.get()
    assert "hunter2" not in row.content and "password" not in row.content
    settings.SECRET_KEY = "another-key-of-some-length-that-is-not-the-one-before"
    assert find(OURS) is None


def test_long_text_is_compressed() -> None:
    text = "".join(f"- line {at}\n" for at in range(100_000))
    keep(OURS, Content(text + "more", text, "u"), 0)
    assert len(Draft.objects.get().content) < len(text)
    found = find(OURS)
    assert found is not None and found.content == Content(text + "more", text, "u")


def test_newer_draft_is_not_overwritten() -> None:
    first, second = keep(OURS, TEXT, 0), keep(OURS, Content("2", "b", "u"), 1)
    assert (first, second) == (1, 2)
    for version in (0, 1, 3):
        with pytest.raises(Newer):
            keep(OURS, Content("old", "b", "u"), version)
    found = find(OURS)
    assert found is not None and found.content.text == "2"
    # After the draft was saved or discarded elsewhere, nothing can be lost.
    forget(OURS)
    assert keep(OURS, TEXT, 2) == 3


def test_oldest_draft_is_removed_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "MOST", 3)
    for at in range(5):
        keep(Place("olga", "host", "pods", "shop", f"p{at}"), TEXT, 0)
    keep(Place("eve", "host", "pods", "shop", "p"), TEXT, 0)
    left = Draft.objects.filter(account="olga").order_by("pk")
    assert [draft.name for draft in left] == ["p2", "p3", "p4"]
    assert Draft.objects.count() == 4 and MOST == 50
    forget_all("olga")
    assert [draft.account for draft in Draft.objects.all()] == ["eve"]


def test_drafts_expire_after_a_month() -> None:
    keep(OURS, TEXT, 0)
    Draft.objects.update(updated=timezone.now() - KEPT - timedelta(minutes=1))
    assert find(OURS) is None
    keep(Place("eve", "host", "pods", "shop", "p"), TEXT, 0)
    assert [draft.account for draft in Draft.objects.all()] == ["eve"]


def test_every_object_name_has_its_own_draft() -> None:
    """In columns of any database: kube-apiserver accepts nearly any role name of any length."""
    names = ("a" * 5_000, "a" * 4_999, "a\0", "a")
    places = [Place("olga", "host", "clusterroles", "", name) for name in names]
    for number, place in enumerate(places):
        keep(place, Content(str(number), "b", "u"), 0)
    assert [found.content.text for place in places if (found := find(place))] == [
        "0",
        "1",
        "2",
        "3",
    ]
    for row in Draft.objects.all():
        assert len(row.name) <= 253 and "\0" not in row.name
