"""Django's sessions in the database, read by one fixed statement.

Every request and every look of a socket after its session reads one row. Putting the query together
anew each time, as the ORM does, costs several times what running it costs, and while it is done nobody
else runs. Everything but reading is Django's.

Where the database is a file of this machine a row is there in less time than it takes to ask another
thread for it, so the event loop reads it by itself: over a connection that can only read, and that gives
up at once, rather than wait, when somebody holds the file. Then, as with any other database, the
database's thread is asked, which waits and says what is wrong.
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
#: The connection of each thread that has a loop.
_own = threading.local()


#: Seconds until it is tried again to note a use after that could not be done.
REST = 10.0
_rest_until = 0.0


class SessionStore(DatabaseStore):
    """`used`: something in it is to be kept that is no more than good to know."""

    used = False

    def save(self, must_create: bool = False) -> None:
        """Raises DatabaseError where Django would say that the session is gone: it may just be that the
        database cannot be written."""
        try:
            super().save(must_create)
        except UpdateError as error:
            if isinstance(error.__context__, OperationalError):
                raise error.__context__ from None
            raise

    def save_use(self) -> None:
        """Nobody waits for it again and again: after a failure it is left out for a while."""
        global _rest_until  # noqa: PLW0603  of the database, not of a session
        if time.monotonic() < _rest_until:
            return
        try:
            self.save()
        except (DatabaseError, UpdateError) as error:
            _rest_until = time.monotonic() + REST
            log.warning("It is not noted that sessions are in use: %s", error)

    async def forget(self) -> None:
        """Ends it here, and in the database if that can be written. Else it ends there by its time."""
        try:
            await self.aflush()
        except DatabaseError as error:
            log.warning("A session that is over stays in the database: %s", error)
            self.clear()
            self._session_key = None

    def load(self) -> dict[str, Any]:
        """Raises DatabaseError."""
        return self._content(_read(self.session_key))

    async def aload(self) -> dict[str, Any]:
        """Raises DatabaseError."""
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
    """Raises LookupError where the database is another one, sqlite3.Error where it is no file or cannot
    be read now."""
    # A connection of Django's would stay in the context of whoever asks: of a socket while it is open.
    database = connections.settings[router.db_for_read(Session)]
    if database["ENGINE"] != _SQLITE:
        raise LookupError
    path = Path(database["NAME"]).absolute()
    # As Django writes it: without a time zone.
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
