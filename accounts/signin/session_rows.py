"""Session backend that reads Django's session table with a fixed SQL statement.

Every request and every session check of a websocket reads one row. Building the query with the
ORM takes several times longer than executing it, and blocks the event loop meanwhile. All
operations except reads use Django's backend.

A row of a local SQLite file is read faster than a worker thread can be scheduled, so the event
loop reads it directly, with a read-only connection that fails immediately if the file is locked.
In that case, and for other databases, the row is read in the database thread, which waits for
the lock and reports errors.
"""

import logging
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db import DatabaseError, OperationalError, connections, router
from django.utils import timezone

log = logging.getLogger(__name__)

_STATEMENT = (
    f"SELECT session_data FROM {Session._meta.db_table} "  # noqa: S608  no input in it
    "WHERE session_key = %s AND expire_date > %s"
)
_OF_SQLITE = _STATEMENT.replace("%s", "?")
_SQLITE = "django.db.backends.sqlite3"
#: SQLite connection of each thread that runs an event loop.
_own = threading.local()


#: Seconds to wait after a failed update of the last-used time.
REST = 10.0
_rest_until = 0.0


class SessionStore(DatabaseStore):
    """Database session store. `used` is set if the session contains a change that may be lost."""

    used = False

    def save(self, must_create: bool = False) -> None:
        """Save the session. Raise DatabaseError if the database can't be written.

        Django would raise UpdateError, which means that the session was deleted.
        """
        try:
            super().save(must_create)
        except UpdateError as error:
            if isinstance(error.__context__, OperationalError):
                raise error.__context__ from None
            raise

    def save_last_used(self) -> None:
        """Save the last-used time, but skip it for `REST` seconds after a failure to keep requests
        fast.
        """
        global _rest_until  # noqa: PLW0603  of the database, not of a session
        if time.monotonic() < _rest_until:
            return
        try:
            self.save()
        except (DatabaseError, UpdateError) as error:
            _rest_until = time.monotonic() + REST
            log.warning("The last-used time of sessions could not be saved: %s", error)

    async def end(self) -> None:
        """Delete the session. If the database can't be written, clear it locally; the row expires
        later.
        """
        try:
            await self.aflush()
        except DatabaseError as error:
            log.warning("An ended session could not be deleted from the database: %s", error)
            self.clear()
            self._session_key = None

    def load(self) -> dict[str, Any]:
        """Load the session. Raise DatabaseError."""
        return self._content(_read(self.session_key))

    async def aload(self) -> dict[str, Any]:
        """Load the session, if possible without a worker thread. Raise DatabaseError."""
        try:
            data = _read_here(self.session_key)
        except (LookupError, sqlite3.Error):
            return await sync_to_async(self.load)()
        return self._content(data)

    def _content(self, data: str | None) -> dict[str, Any]:
        if data is None:
            self._session_key = None
            return {}
        content: dict[str, Any] = self.decode(data)
        return content


def _read(key: str | None) -> str | None:
    connection = connections[router.db_for_read(Session)]
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT, [key, connection.ops.adapt_datetimefield_value(timezone.now())])
        row = cursor.fetchone()
    return None if row is None else row[0]


def _read_here(key: str | None) -> str | None:
    """Read the row on the event loop.

    Raise LookupError if the database is not SQLite, or sqlite3.Error if it can't be opened or is
    locked.
    """
    # A Django connection would stay in the caller's context, for example while a websocket is open.
    database = connections.settings[router.db_for_read(Session)]
    if database["ENGINE"] != _SQLITE:
        raise LookupError
    path = Path(database["NAME"]).absolute()
    # Django stores times in SQLite without a time zone.
    now = str(timezone.now().replace(tzinfo=None))
    row = _reader(path).execute(_OF_SQLITE, [key, now]).fetchone()
    return None if row is None else row[0]


def _reader(path: Path) -> sqlite3.Connection:
    opened: tuple[Path, sqlite3.Connection] | None = getattr(_own, "opened", None)
    if opened is not None and opened[0] != path:
        opened[1].close()
    if opened is None or opened[0] != path:
        address = f"{path.as_uri()}?mode=ro"
        found = sqlite3.connect(address, uri=True, timeout=0, isolation_level=None)
        opened = _own.opened = path, found
    return opened[1]
