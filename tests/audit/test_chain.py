"""The hash chain of the audit trail reports changed, removed, added and truncated records."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import models
from django.utils import timezone
from pytest_django import Settings

from console.audit import chain
from console.audit.chain import HEAD, START, anchor, seal, verify
from console.audit.models import AuditAnchor, AuditChange, AuditLink, AuditRecord, Stage
from console.audit.retention import prune
from console.audit.trail import AuditAction, AuditEntry, complete, insert
from console.kube.gvr import DEPLOYMENTS

pytestmark = pytest.mark.django_db(transaction=True)

Manifest = dict[str, Any]


@pytest.fixture(autouse=True)
def _key(settings: Settings) -> None:
    settings.SECRET_KEY = "k" * 40


def raw(model: type[models.Model]) -> models.QuerySet[Any]:
    """Return the rows as an attacker with access to the database sees them."""
    return models.QuerySet(model)


def write(name: str, *, code: int | None = 200, before: Manifest | None = None) -> AuditRecord:
    action = AuditAction("alice", "alice", "delete", DEPLOYMENTS, namespace="shop", name=name)
    row = insert(action, f"id-{name}")
    if code is not None:
        entry = AuditEntry(row.audit_id, code)
        entry.set_change("uid", before, None)
        complete(row, entry)
    return row


def sealed(count: int = 5) -> list[AuditRecord]:
    rows = [write(f"web-{number}", before={"n": number}) for number in range(count)]
    while seal():
        pass
    return rows


def problems(known: str = "") -> list[str]:
    return [one.text for one in verify(known).findings]


def test_an_untouched_trail_is_intact() -> None:
    sealed(3)
    found = verify()
    assert (found.links, found.findings) == (3, [])
    assert found.head == f"3:{AuditLink.objects.get(seq=3).hash}"
    first, second = AuditLink.objects.order_by("seq")[:2]
    assert (first.previous, second.previous) == (chain.GENESIS, first.hash)


@pytest.mark.parametrize(
    ("tamper", "reported"),
    [
        (lambda row: raw(AuditRecord).filter(pk=row.pk).update(actor="bob"), "was changed"),
        (lambda row: raw(AuditRecord).filter(pk=row.pk).update(code=403), "was changed"),
        (
            lambda row: raw(AuditChange).filter(record=row).update(before=b"x"),
            "manifests of record",
        ),
        (lambda row: raw(AuditChange).filter(record=row).delete(), "manifests of record"),
        (lambda row: raw(AuditLink).filter(record=row.pk).delete(), "are missing"),
        (lambda row: raw(AuditLink).filter(record=row.pk).update(hash="0" * 64), "was changed"),
    ],
)
def test_a_changed_row_is_reported(tamper: Callable[[AuditRecord], object], reported: str) -> None:
    rows = sealed()
    tamper(rows[2])
    assert any(reported in text for text in problems())


def test_a_removed_record_is_reported() -> None:
    rows = sealed()
    raw(AuditChange).filter(record=rows[1]).delete()
    raw(AuditRecord).filter(pk=rows[1].pk).delete()
    assert problems() == [f"record {rows[1].pk} was removed"]


def cut(rows: list[AuditRecord]) -> None:
    """Remove the last two records and their links."""
    for row in rows[-2:]:
        raw(AuditLink).filter(record=row.pk).delete()
        raw(AuditChange).filter(record=row).delete()
        raw(AuditRecord).filter(pk=row.pk).delete()


def test_a_truncated_trail_is_reported() -> None:
    cut(sealed())
    assert problems() == ["the chain is truncated: it ends at link 3, not 5"]


def test_a_forged_head_is_reported() -> None:
    cut(sealed())
    last = AuditLink.objects.get(seq=3)
    raw(AuditAnchor).filter(pk=HEAD).update(seq=3, hash=last.hash)
    assert any("the signature of the head is wrong" in text for text in problems())


def test_an_old_head_is_reported_with_a_known_head() -> None:
    sealed(3)
    old = raw(AuditAnchor).filter(pk=HEAD).values().get()
    rows = [write(f"more-{number}") for number in range(2)]
    seal()
    known = verify().head
    cut(rows)
    raw(AuditAnchor).filter(pk=HEAD).update(**old)
    assert problems() == []
    assert problems(known) == [f"the given head {known} is not part of the chain"]


def test_an_emptied_trail_is_reported() -> None:
    rows = sealed(2)
    cut(rows)
    assert problems() == ["the chain is truncated: it ends at link 0, not 2"]


def test_a_record_that_is_not_part_of_the_chain_is_reported() -> None:
    sealed(1)
    row = write("forged")
    raw(AuditRecord).filter(pk=row.pk).update(stage=Stage.FINISHED)
    assert problems() == [f"record {row.pk} is not part of the chain"]


def test_a_long_action_is_sealed_at_its_start_and_at_its_end() -> None:
    row = write("shell", code=None)
    assert seal() == 0
    raw(AuditRecord).filter(pk=row.pk).update(time=timezone.now() - timedelta(minutes=1))
    assert (seal(), seal()) == (1, 0)
    complete(row, AuditEntry(row.audit_id, 200))
    assert (seal(), seal()) == (1, 0)
    assert [one.stage for one in AuditLink.objects.order_by("seq")] == [1, 2]
    assert problems() == []


def test_a_result_is_written_once() -> None:
    row = write("web")
    assert not complete(row, AuditEntry(row.audit_id, 500))
    assert AuditRecord.objects.get().code == 200


def test_pruning_keeps_the_chain_verifiable() -> None:
    rows = sealed(6)
    for row in rows[:4]:
        raw(AuditRecord).filter(pk=row.pk).update(time=timezone.now() - timedelta(days=200))
    # The times are part of the chain.
    raw(AuditLink).all().delete()
    raw(AuditAnchor).all().delete()
    raw(AuditRecord).update(stage=Stage.NEW)
    seal()
    head = verify().head
    assert prune(180) == 4
    assert [one.name for one in AuditRecord.objects.order_by("pk")] == ["web-4", "web-5"]
    assert (problems(), problems(head)) == ([], [])
    assert anchor(START).seq == 4
    assert prune(180) == 0
    assert problems("2:abc") == ["the given head 2:abc is older than the retention"]
    raw(AuditAnchor).filter(pk=START).update(seq=5)
    assert any("the signature of the start is wrong" in text for text in problems())


def test_pruning_stops_before_a_removed_record() -> None:
    rows = sealed(3)
    raw(AuditChange).filter(record=rows[0]).delete()
    raw(AuditRecord).filter(pk=rows[0].pk).delete()
    assert prune(1) == 0
    assert problems() == [f"record {rows[0].pk} was removed"]


def test_the_command_reports_problems_and_the_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "0123456789abcdef" * 3)
    rows = sealed(2)
    out, errors = StringIO(), StringIO()
    call_command("audit", "verify", stdout=out)
    assert out.getvalue() == f"The audit trail is intact: 2 links, head {verify().head}\n"
    raw(AuditRecord).filter(pk=rows[0].pk).update(name="other")
    with pytest.raises(CommandError, match="1 problems"):
        call_command("audit", "verify", stderr=errors)
    assert "Link 1: record" in errors.getvalue()
