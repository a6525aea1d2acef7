"""Connections that a console opened on a test's event loop end with the test.

A console keeps them for each loop, and each asynchronous test has a loop of its own. Those that were left
would be found, when memory is collected, by whichever test runs then.
"""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from pytest_asyncio import is_async_test

from console.kube.runtime import Runtime

_NAME = "connections_end"


@pytest_asyncio.fixture(name=_NAME)
async def _connections_end(request: pytest.FixtureRequest) -> AsyncIterator[None]:
    """Of all consoles among the test's fixtures, or in the field `runtime` of one."""
    yield
    for value in {id(one): one for one in request.node.funcargs.values()}.values():
        found = value if isinstance(value, Runtime) else getattr(value, "runtime", None)
        if isinstance(found, Runtime):
            await found.close_connections()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        names = getattr(item, "fixturenames", [])
        # First, so that it ends when whatever else asks on this loop has ended.
        if is_async_test(item) and _NAME not in names:
            names.insert(0, _NAME)
