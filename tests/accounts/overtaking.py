"""Two replicas that are asked the same at once, of which the second is quicker by one statement."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.db import connection

T = TypeVar("T")


def overtaken(act: Callable[[], T], at: str = "UPDATE") -> tuple[T, T]:
    """What the quicker one gets, and the other: it acts when that is about to write, by a statement that
    begins with `at`. Off the loop."""
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
