"""The console under load: it reports the requests that it cannot serve and continues to serve all
others.
"""

import asyncio
import re
import sqlite3
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from pathlib import Path

import aiohttp
import pytest

from accounts.signin import passwords
from tests.browser.console import PASSWORD, Console, Embedded, running
from tests.controlplane.plugin import skip_or_fail
from tests.support.depth import number

pytestmark = pytest.mark.programs
_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: made-on-a-full-disk\n"
LOGINS = passwords.MAX_WAITING + number(6, 30)
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pressed")


@pytest.fixture(scope="module")
def disk(folder: Path) -> Iterator[Path]:
    """Yield the folder of the database: a disk of 32 MiB if mounting is permitted."""
    state = folder / "state"
    state.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m", "quarterdeck-tests", str(state)]
    try:
        subprocess.run(mount, check=False, capture_output=True)
        yield state
    finally:
        if state.is_mount():
            subprocess.run(["umount", "--lazy", str(state)], check=True)


@pytest.fixture(scope="module")
def console(folder: Path, disk: Path) -> Iterator[Console]:
    cluster = Embedded(folder / "cluster")
    try:
        # Only the administrator signs in, whose account exists already.
        with running(cluster, folder, state=disk, controllers=False) as found:
            yield found
    finally:
        cluster.stop()


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Fill the disk, including the free pages of the database file."""
    with closing(sqlite3.connect(disk / "quarterdeck.sqlite3")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    filler = disk / "filler"
    try:
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
            while True:
                file.write(bytes(4096))
        yield
    finally:
        filler.unlink()


class Visitor:
    """A browser without scripts."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url, self._session = url, session

    async def get(self, path: str) -> tuple[int, str]:
        async with self._session.get(self.url + path, allow_redirects=False) as answer:
            return answer.status, await answer.text()

    async def send(self, page: str, **fields: str) -> tuple[int, str]:
        """Submit the form on the page."""
        _status, text = await self.get(page)
        found = _TOKEN.search(text)
        assert found is not None, text
        data = {"csrfmiddlewaretoken": found[1], **fields}
        headers = {"Origin": self.url, "Sec-Fetch-Site": "same-origin"}
        async with self._session.post(
            self.url + page, data=data, headers=headers, allow_redirects=False
        ) as answer:
            return answer.status, await answer.text()

    async def login(self, name: str = "admin", password: str = PASSWORD) -> tuple[int, str]:
        return await self.send("/login", username=name, password=password)


@asynccontextmanager
async def visiting(console: Console) -> AsyncIterator[Visitor]:
    jar = aiohttp.CookieJar(unsafe=True)
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(cookie_jar=jar, timeout=timeout) as session:
        yield Visitor(console.url, session)


async def test_locked_database_does_not_block_other_requests(console: Console, disk: Path) -> None:
    """Another process locks the database file. A sign-in fails after its timeout, and pages are
    served meanwhile because their views are read from the database without waiting.
    """
    async with visiting(console) as reader, visiting(console) as other:
        assert (await reader.login())[0] == 302
        assert (await reader.get("/views"))[0] == 200
        with closing(sqlite3.connect(disk / "quarterdeck.sqlite3", isolation_level=None)) as held:
            held.execute("BEGIN IMMEDIATE")
            login = asyncio.ensure_future(other.login())
            slowest, pages = 0.0, 0
            while not login.done():
                began = time.monotonic()
                assert (await reader.get("/views"))[0] == 200
                slowest, pages = max(slowest, time.monotonic() - began), pages + 1
                await asyncio.wait({login}, timeout=0.1)
            held.execute("ROLLBACK")
        status, text = await login
        assert status == 503 and "the database is not available" in text
        # The sign-in waited for seconds, the pages did not wait.
        assert pages > 5 and slowest < 2, (pages, slowest)
        assert (await other.login())[0] == 302


async def test_full_disk_fails_writes_but_serves_pages(console: Console, disk: Path) -> None:
    if not disk.is_mount():
        skip_or_fail("a console on a full disk", "a disk of its own can only be mounted by root")
    pages = ("/dashboard", "/clusters/host/pods", "/clusters/host/configmaps", "/views", "/account")
    form = {"text": _MAP, "namespace": "default", "version": "0", "step": "create"}
    importing = "/clusters/host/import"
    made = "/clusters/host/projects/default/configmaps/made-on-a-full-disk"
    async with visiting(console) as reader, visiting(console) as other:
        assert (await reader.login())[0] == 302
        usual = [await _took(reader, page) for page in pages]
        with full(disk):
            assert max([await _took(reader, page) for page in pages]) < 2 + max(usual)
            status, text = await other.login()
            assert status == 503 and "the database is not available" in text
            status, text = await reader.send(importing, **form)
            assert status == 503 and "The database is not available." in text
            assert (await reader.get("/views"))[0] == 200
            assert (await reader.get(made))[0] == 404
        assert (await other.login())[0] == 302
        assert (await reader.send(importing, **form))[0] == 200
    assert [process.poll() for process in console.processes] == [None]


async def _took(visitor: Visitor, page: str) -> float:
    """Return the seconds until the page is loaded."""
    began = time.monotonic()
    status, _text = await visitor.get(page)
    assert status == 200, page
    return time.monotonic() - began


async def test_concurrent_sign_ins_all_succeed(console: Console) -> None:
    """There are more of them than may wait for a thread."""
    async with AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(visiting(console)) for _ in range(LOGINS)]
        answers = await asyncio.gather(*(visitor.login() for visitor in visitors))
    assert {status for status, _text in answers} == {302}
