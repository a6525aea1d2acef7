"""Close the connections that a console opened on a test's event loop when the test ends.

A console keeps connections per event loop, and each asynchronous test has its own loop.
Connections left open would be reported during garbage collection in an unrelated later test.
"""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from pytest_asyncio import is_async_test

from console.kube.runtime import Runtime

_NAME = "connections_end"


@pytest_asyncio.fixture(name=_NAME)
async def _connections_end(request: pytest.FixtureRequest) -> AsyncIterator[None]:
    """Close the connections of all consoles among the test's fixtures, or in their attribute
    `runtime`.
    """
    yield
    for value in {id(one): one for one in request.node.funcargs.values()}.values():
        found = value if isinstance(value, Runtime) else getattr(value, "runtime", None)
        if isinstance(found, Runtime):
            await found.close_connections()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        names = getattr(item, "fixturenames", [])
        # Set up first, so that it is torn down after every other fixture that uses this loop.
        if is_async_test(item) and _NAME not in names:
            names.insert(0, _NAME)
