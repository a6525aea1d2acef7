"""Races between two replicas that process the same request."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.db import connection

T = TypeVar("T")


def overtaken(act: Callable[[], T], at: str = "UPDATE") -> tuple[T, T]:
    """Run `act` twice and return the results of the faster and the slower run.

    The slower run is interrupted before its first SQL statement that starts with `at`, and the
    faster one runs completely at this point. Must not run on the event loop.
    """
    quicker: list[T] = []
    ahead = True

    def wrapper(execute: Callable[..., Any], sql: str, *given: Any) -> Any:
        nonlocal ahead
        if ahead and sql.startswith(at):
            ahead = False
            quicker.append(act())
        return execute(sql, *given)

    with connection.execute_wrapper(wrapper):
        other = act()
    return quicker[0], other
