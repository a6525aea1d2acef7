"""Django's sessions in the database, read by one fixed statement.

Every request and every look of a socket after its session reads one row. Putting the query together
anew each time, as the ORM does, costs several times what running it costs, and while it is done nobody
else runs. Everything but reading is Django's.
"""

from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db import connections, router
from django.utils import timezone

_STATEMENT = (
    f"SELECT session_data FROM {Session._meta.db_table} "  # noqa: S608  no input in it
    "WHERE session_key = %s AND expire_date > %s"
)


class SessionStore(DatabaseStore):
    def load(self) -> dict[str, Any]:
        """Raises DatabaseError."""
        data = _read(self.session_key)
        if data is None:
            self._session_key = None
            return {}
        content: dict[str, Any] = self.decode(data)
        return content

    async def aload(self) -> dict[str, Any]:
        """Raises DatabaseError."""
        return await sync_to_async(self.load)()


def _read(key: str | None) -> str | None:
    connection = connections[router.db_for_read(Session)]
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT, [key, now])
        row = cursor.fetchone()
    return None if row is None else row[0]
