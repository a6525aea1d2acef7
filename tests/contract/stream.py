"""A client for the raw event stream of a watch."""

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.contract.client import Client, Obj

#: Longest time to wait for an event.
_SILENCE_SECONDS = 20.0


class Stream:
    """The events of one watch. If the status is not 200 there are no events, and `refusal` holds
    the body.
    """

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response
        self.status = response.status
        self.refusal = b"" if response.status == http.client.OK else response.read()

    def __iter__(self) -> Iterator[Obj]:
        while line := self._response.readline():
            yield json.loads(line)

    def next(self) -> Obj:
        """Return the next event. Raise TimeoutError after a silence and AssertionError if the watch
        has ended.
        """
        line = self._response.readline()
        assert line, "the watch ended"
        event: Obj = json.loads(line)
        return event

    def take(self, number: int) -> list[Obj]:
        return [self.next() for _ in range(number)]

    def until(self, is_last: Callable[[Obj], bool]) -> list[Obj]:
        """Return the events up to and including the first for which `is_last` is true."""
        found = [self.next()]
        while not is_last(found[-1]):
            found.append(self.next())
        return found

    def error(self) -> Obj:
        """Return the Status that refused the watch, from the response body or from the first event."""
        if self.refusal:
            answer: Obj = json.loads(self.refusal)
            return answer
        event = self.next()
        assert event["type"] == "ERROR", event
        status: Obj = event["object"]
        return status


def names(events: list[Obj]) -> list[tuple[str, str]]:
    """Return type and name of each event."""
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in events]


@contextmanager
def watch(client: Client, path: str, **params: str | int | bool) -> Iterator[Stream]:
    """Start a watch with these parameters on a separate connection."""
    with client.stream(path, {**params, "watch": True}, _SILENCE_SECONDS) as response:
        yield Stream(response)
