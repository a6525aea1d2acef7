"""Persistent storage in one SQLite file.

Every change is one transaction, so the stored objects always match the last resourceVersion. WAL
mode without a sync per commit: a killed process loses no data. A power failure may lose the last
writes, which is acceptable for a development cluster.
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
    """SQLite storage of objects and settings, used by one thread at a time.

    Raise `OSError` or `sqlite3.Error` if the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.executescript(_SCHEMA)
        self._batching = False

    def load(self) -> Iterator[tuple[str, str, bytes]]:
        """Yield the collection, key and JSON of every object."""
        yield from self._connection.execute("SELECT collection, key, data FROM objects")

    def resource_version(self) -> int:
        """Return the last assigned resourceVersion."""
        return int(self.setting(_VERSION) or 0)

    def setting(self, name: str) -> str | None:
        rows = self._connection.execute("SELECT value FROM settings WHERE name = ?", (name,))
        found = rows.fetchone()
        return None if found is None else str(found[0])

    def set(self, name: str, value: str) -> None:
        self._connection.execute(_SET, (name, value))

    def write(self, collection: str, key: str, data: bytes | None, resource_version: int) -> None:
        """Store the object, or remove it if `data` is None."""
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
        """Combine all writes until `commit` into one transaction, to create many objects faster."""
        self._connection.execute("BEGIN")
        self._batching = True

    def commit(self) -> None:
        self._batching = False
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()
