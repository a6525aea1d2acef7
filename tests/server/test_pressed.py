"""The console as it is run, pressed hard: it says what it cannot do, and goes on serving all others."""

import asyncio
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path

import aiohttp
import pytest

from tests.browser.console import PASSWORD, Console, Embedded, running

pytestmark = pytest.mark.programs
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pressed")


@pytest.fixture(scope="module")
def console(folder: Path) -> Iterator[Console]:
    cluster = Embedded(folder / "cluster")
    try:
        with running(cluster, folder) as found:
            yield found
    finally:
        cluster.stop()


class Visitor:
    """A browser without scripts."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url, self._session = url, session

    async def get(self, path: str) -> tuple[int, str]:
        async with self._session.get(self.url + path, allow_redirects=False) as answer:
            return answer.status, await answer.text()

    async def login(self, name: str = "admin", password: str = PASSWORD) -> tuple[int, str]:
        _status, page = await self.get("/login")
        found = _TOKEN.search(page)
        assert found is not None, page
        data = {"csrfmiddlewaretoken": found[1], "username": name, "password": password}
        headers = {"Origin": self.url, "Sec-Fetch-Site": "same-origin"}
        url = f"{self.url}/login"
        async with self._session.post(
            url, data=data, headers=headers, allow_redirects=False
        ) as answer:
            return answer.status, await answer.text()


@asynccontextmanager
async def visiting(console: Console) -> AsyncIterator[Visitor]:
    jar = aiohttp.CookieJar(unsafe=True)
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(cookie_jar=jar, timeout=timeout) as session:
        yield Visitor(console.url, session)


async def test_whoever_waits_for_the_database_is_in_nobodys_way(
    console: Console, folder: Path
) -> None:
    """Somebody holds the file: a login says after a while that it cannot be written, and pages, whose
    views are in the database, come meanwhile as ever."""
    async with visiting(console) as reader, visiting(console) as other:
        assert (await reader.login())[0] == 302
        assert (await reader.get("/views"))[0] == 200
        with closing(sqlite3.connect(folder / "quarterdeck.sqlite3", isolation_level=None)) as held:
            held.execute("BEGIN IMMEDIATE")
            login = asyncio.ensure_future(other.login())
            slowest, pages = 0.0, 0
            while not login.done():
                began = time.monotonic()
                assert (await reader.get("/views"))[0] == 200
                slowest, pages = max(slowest, time.monotonic() - began), pages + 1
            held.execute("ROLLBACK")
        status, text = await login
        assert status == 503 and "the database cannot be used" in text
        # It has waited for seconds, and a page for none of them.
        assert pages > 5 and slowest < 2, (pages, slowest)
        assert (await other.login())[0] == 302


async def test_of_many_logins_at_once_all_get_in(console: Console) -> None:
    """More than the process can check in the time of a few."""
    async with AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(visiting(console)) for _ in range(90)]
        answers = await asyncio.gather(*(visitor.login() for visitor in visitors))
    assert {status for status, _text in answers} == {302}
