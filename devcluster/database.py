"""What survives a restart: one SQLite file.

Every change is one transaction, so the objects on disk and the last resourceVersion always fit
together. WAL without a sync per commit: a killed process loses nothing, a machine that loses power
may lose the last moments, which is fine for a cluster of this kind.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS objects (
    collection TEXT NOT NULL, key TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (collection, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_PUT = "INSERT OR REPLACE INTO objects VALUES (?, ?, ?)"
_REMOVE = "DELETE FROM objects WHERE collection = ? AND key = ?"
_SET = "INSERT OR REPLACE INTO settings VALUES (?, ?)"
_VERSION = "resourceVersion"


class Database:
    """Used by one thread at a time. `OSError` or `sqlite3.Error` if the file cannot be used."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.executescript(_SCHEMA)
        self._batching = False

    def load(self) -> Iterator[tuple[str, str, bytes]]:
        """Every object: collection, key, JSON."""
        yield from self._connection.execute("SELECT collection, key, data FROM objects")

    def resource_version(self) -> int:
        """The last one that was given out."""
        return int(self.setting(_VERSION) or 0)

    def setting(self, name: str) -> str | None:
        rows = self._connection.execute("SELECT value FROM settings WHERE name = ?", (name,))
        found = rows.fetchone()
        return None if found is None else str(found[0])

    def set(self, name: str, value: str) -> None:
        self._connection.execute(_SET, (name, value))

    def write(self, collection: str, key: str, data: bytes | None, resource_version: int) -> None:
        """Stores the object, or removes it where `data` is None."""
        if not self._batching:
            self._connection.execute("BEGIN")
        if data is None:
            self._connection.execute(_REMOVE, (collection, key))
        else:
            self._connection.execute(_PUT, (collection, key, data))
        self._connection.execute(_SET, (_VERSION, str(resource_version)))
        if not self._batching:
            self._connection.execute("COMMIT")

    def begin(self) -> None:
        """Puts the writes up to `commit` into one transaction, for seeding many objects."""
        self._connection.execute("BEGIN")
        self._batching = True

    def commit(self) -> None:
        self._batching = False
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()
