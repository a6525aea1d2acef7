"""The audit trail: one immutable record per action, written before the action."""

import asyncio
import errno
import io
import json
import sys
from typing import Any

import pytest
from django.db import DatabaseError
from django.test import RequestFactory
from pytest_django import Settings

from console.audit.models import AppendOnlyError, AuditLink, AuditRecord
from console.audit.trail import AuditAction, AuditUnavailable, record, request_action
from console.kube.errors import Forbidden
from console.kube.gvr import PODS

pytestmark = pytest.mark.django_db(transaction=True)

ACTION = AuditAction(
    "alice", "alice", "delete", PODS, namespace="shop", name="web", source="192.0.2.1"
)


async def rows() -> list[AuditRecord]:
    return [row async for row in AuditRecord.objects.order_by("id")]


async def test_the_record_is_written_before_the_action_and_the_outcome_after_it() -> None:
    async with record(ACTION) as entry:
        (row,) = await rows()
        assert row.audit_id == entry.audit_id
        assert (row.code, row.finished) == (None, None)
    (row,) = await rows()
    assert (row.actor, row.as_user, row.verb) == ("alice", "alice", "delete")
    assert (row.group, row.version, row.resource) == ("", "v1", "pods")
    assert (row.namespace, row.name, row.source) == ("shop", "web", "192.0.2.1")
    assert row.code == 200
    assert row.finished is not None and row.finished >= row.time


async def test_an_api_error_is_recorded_and_raised() -> None:
    status = {"reason": "Forbidden", "message": 'pods "web" is forbidden'}
    with pytest.raises(Forbidden):
        async with record(ACTION):
            raise Forbidden(403, "no", status=status)
    (row,) = await rows()
    assert (row.code, row.reason) == (403, "Forbidden")
    assert row.message == 'pods "web" is forbidden'


async def test_a_cancelled_action_has_code_0() -> None:
    entered = asyncio.Event()

    async def act() -> None:
        async with record(ACTION):
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(act())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (row,) = await rows()
    assert (row.code, row.reason) == (0, "Aborted")


async def test_the_block_can_set_the_outcome() -> None:
    async with record(ACTION) as entry:
        entry.set_outcome(401, "WrongPassword", "x" * 5000)
    (row,) = await rows()
    assert (row.code, row.reason) == (401, "WrongPassword")
    assert len(row.message) == 1024


async def test_an_action_is_not_run_if_the_record_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise DatabaseError("attempt to write a readonly database")

    monkeypatch.setattr(AuditRecord, "save", fail)
    done = False
    with pytest.raises(AuditUnavailable):
        async with record(ACTION):
            done = True
    assert not done


async def test_a_failed_outcome_write_is_logged_and_keeps_the_record(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise DatabaseError("disk full")

    monkeypatch.setattr("console.audit.trail.complete", fail)
    async with record(ACTION) as entry:
        pass
    assert entry.audit_id in caplog.text
    assert await AuditRecord.objects.acount() == 1


def test_rows_cannot_be_changed_or_deleted() -> None:
    row = AuditRecord(audit_id="1", verb="delete")
    row.save()
    link = AuditLink(seq=1, record=row.pk, stage=2)
    link.save()
    for kept, field in ((row, "actor"), (link, "previous")):
        setattr(kept, field, "mallory")
        with pytest.raises(AppendOnlyError):
            kept.save()
        with pytest.raises(AppendOnlyError):
            kept.delete()
        loaded = type(kept).objects.get(pk=kept.pk)
        setattr(loaded, field, "mallory")
        with pytest.raises(AppendOnlyError):
            loaded.save(update_fields=[field])
        rows = type(kept).objects.all()
        with pytest.raises(AppendOnlyError):
            rows.update(**{field: "mallory"})
        with pytest.raises(AppendOnlyError):
            rows.filter(pk=kept.pk).delete()
        with pytest.raises(AppendOnlyError):
            rows.bulk_update([loaded], [field])
        with pytest.raises(AppendOnlyError):
            rows.update_or_create(pk=kept.pk, defaults={field: "mallory"})
        again = type(kept).objects.get(pk=kept.pk)
        assert getattr(again, field) == ""


def test_a_row_with_an_existing_key_is_not_overwritten() -> None:
    first = AuditRecord(audit_id="1", verb="delete", actor="alice")
    first.save()
    with pytest.raises(DatabaseError):
        AuditRecord(pk=first.pk, audit_id="2", verb="delete").save()
    with pytest.raises(AppendOnlyError):
        AuditRecord.objects.bulk_create(
            [AuditRecord(pk=first.pk, audit_id="1", verb="x")],
            update_conflicts=True,
            unique_fields=["audit_id"],
            update_fields=["verb"],
        )
    assert AuditRecord.objects.get(pk=first.pk).actor == "alice"


HOSTILE = 'curl/8\r\n{"actor":"admin"}\x1b[2J\x00\x7f\x9b\u2028\u202e'


async def test_a_record_is_printed_as_one_ascii_line_of_json(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.AUDIT_STDOUT = True
    request = RequestFactory().get("/x", headers={"User-Agent": HOSTILE})
    async with record(request_action(request, "delete", PODS, name="a\nb")) as entry:
        entry.set_outcome(500, "X", "bad\x1b]0;title\x07\nnews")
    output = capsys.readouterr().out
    assert output.endswith("\n")
    (line,) = output[:-1].split("\n")
    assert line.isascii()
    assert line.isprintable()
    value = json.loads(line)
    assert value["audit_id"] == entry.audit_id
    assert set(value) == {
        "time", "audit_id", "actor", "as_user", "verb", "group", "version", "resource", "namespace",
        "name", "subresource", "source", "user_agent", "path", "code", "reason", "message", "cluster",
        "workspace", "uid", "origin", "finished",
    }  # fmt: skip
    assert value["name"] == "a\\nb"
    (row,) = await rows()
    for text in (row.user_agent, row.name, row.message):
        assert text.isprintable()


class FullDisk(io.StringIO):
    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


async def test_a_print_error_does_not_fail_the_action(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.AUDIT_STDOUT = True
    monkeypatch.setattr(sys, "stdout", FullDisk())
    async with record(ACTION) as entry:
        entry.set_outcome(200)
    (row,) = await rows()
    assert row.code == 200


async def test_records_are_printed_only_if_enabled(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.AUDIT_STDOUT = False
    async with record(ACTION):
        pass
    assert capsys.readouterr().out == ""


async def test_long_values_are_truncated_and_query_strings_omitted() -> None:
    path = "/" + "p" * 3000 + "?token=s3cret-canary"
    request = RequestFactory().get(path, headers={"User-Agent": "a" * 3000})
    async with record(request_action(request, "delete", PODS, name="n" * 3000)):
        pass
    (row,) = await rows()
    assert (len(row.path), len(row.user_agent), len(row.name)) == (512, 256, 253)
    assert "canary" not in "".join(str(value) for value in vars(row).values())


async def test_the_source_is_the_peer_unless_a_proxy_is_trusted(settings: Settings) -> None:
    headers = {"X-Forwarded-For": "203.0.113.9"}
    request = RequestFactory().get("/", headers=headers, REMOTE_ADDR="198.51.100.7")
    assert request_action(request, "x", PODS).source == "198.51.100.7"
