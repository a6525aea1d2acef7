"""Session rows are read on the event loop from SQLite files, without caching."""

import sqlite3
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from accounts.signin import session_rows
from accounts.signin.session_rows import SessionStore

KEY = "k" * 32


@pytest.fixture
def configured(tmp_path: Path) -> dict[str, Any]:
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": tmp_path / "console #1.sqlite3"}


@pytest.fixture
def file(configured: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An SQLite database file without sessions."""
    path: Path = configured["NAME"]
    # Django connections would stay open in the threads that use them.
    monkeypatch.setattr(
        session_rows, "connections", SimpleNamespace(settings={"default": configured})
    )
    run(path, "CREATE TABLE django_session (session_key, session_data, expire_date)")
    return path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The session keys requested from the database thread."""
    found: list[str | None] = []
    monkeypatch.setattr(session_rows, "_read", found.append)
    return found


def run(path: Path, statement: str, *values: Any) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement, values)
    connection.close()


def save(path: Path, content: dict[str, Any], *, hours: int = 1) -> None:
    expires = (timezone.now() + timedelta(hours=hours)).replace(tzinfo=None)
    statement = "INSERT INTO django_session VALUES (?, ?, ?)"
    run(path, statement, KEY, SessionStore().encode(content), str(expires))


async def test_an_sqlite_file_is_read_on_the_event_loop(
    file: Path, asked: list[str | None]
) -> None:
    save(file, {"account": "admin"})
    assert await SessionStore(KEY).aload() == {"account": "admin"}
    assert not asked


async def test_external_changes_are_visible_immediately(
    file: Path, asked: list[str | None]
) -> None:
    save(file, {"account": "admin"})
    await SessionStore(KEY).aload()
    run(
        file,
        "UPDATE django_session SET session_data = ?",
        SessionStore().encode({"account": "bob"}),
    )
    assert await SessionStore(KEY).aload() == {"account": "bob"}
    run(file, "DELETE FROM django_session")
    ended = SessionStore(KEY)
    assert await ended.aload() == {}
    assert ended.session_key is None
    assert not asked


async def test_an_expired_session_is_empty(file: Path, asked: list[str | None]) -> None:
    save(file, {"account": "admin"}, hours=-1)
    assert await SessionStore(KEY).aload() == {}
    assert not asked


async def test_a_locked_file_is_read_in_the_database_thread(
    file: Path, asked: list[str | None]
) -> None:
    save(file, {"account": "admin"})
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    began = time.monotonic()
    assert await SessionStore(KEY).aload() == {}
    assert time.monotonic() - began < 4  # SQLite would wait for 5 s.
    holder.close()
    assert asked == [KEY]
    assert await SessionStore(KEY).aload() == {"account": "admin"}


async def test_the_reader_connection_is_read_only(file: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        session_rows._reader(file).execute("DELETE FROM django_session")


async def test_other_databases_are_read_in_the_database_thread(
    configured: dict[str, Any], file: Path, asked: list[str | None]
) -> None:
    configured["NAME"] = file.with_name("none")
    await SessionStore(KEY).aload()
    configured["ENGINE"] = "django.db.backends.postgresql"
    await SessionStore(KEY).aload()
    assert asked == [KEY, KEY]
    assert not file.with_name("none").exists()
