"""The console as it is run, pressed hard: it says what it cannot do, and goes on serving all others."""

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
from tests.controlplane.plugin import missing
from tests.depth import number

pytestmark = pytest.mark.programs
_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: made-on-a-full-disk\n"
LOGINS = passwords.MAX_WAITING + number(6, 30)
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pressed")


@pytest.fixture(scope="module")
def disk(folder: Path) -> Iterator[Path]:
    """Where the database is: a disk of 32 MiB, where one may be mounted."""
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
        # Nobody signs in but the administrator, who was there before.
        with running(cluster, folder, state=disk, controllers=False) as found:
            yield found
    finally:
        cluster.stop()


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Nothing more can be written there, nor where the database has written before."""
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
        """The form that is on the page."""
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


async def test_whoever_waits_for_the_database_is_in_nobodys_way(
    console: Console, disk: Path
) -> None:
    """Somebody holds the file: a login says after a while that it cannot be written, and pages, whose
    views are in the database, come meanwhile as ever."""
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
        assert status == 503 and "the database cannot be used" in text
        # It has waited for seconds, and a page for none of them.
        assert pages > 5 and slowest < 2, (pages, slowest)
        assert (await other.login())[0] == 302


async def test_on_a_full_disk_pages_come_and_what_must_be_written_is_refused(
    console: Console, disk: Path
) -> None:
    if not disk.is_mount():
        missing("a console on a full disk", "a disk of its own can only be mounted by root")
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
            assert status == 503 and "the database cannot be used" in text
            status, text = await reader.send(importing, **form)
            assert status == 503 and "The database cannot be used." in text
            assert (await reader.get("/views"))[0] == 200
            assert (await reader.get(made))[0] == 404
        assert (await other.login())[0] == 302
        assert (await reader.send(importing, **form))[0] == 200
    assert [process.poll() for process in console.processes] == [None]


async def _took(visitor: Visitor, page: str) -> float:
    """Seconds until it is there."""
    began = time.monotonic()
    status, _text = await visitor.get(page)
    assert status == 200, page
    return time.monotonic() - began


async def test_of_many_logins_at_once_all_get_in(console: Console) -> None:
    """More than may wait for a thread."""
    async with AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(visiting(console)) for _ in range(LOGINS)]
        answers = await asyncio.gather(*(visitor.login() for visitor in visitors))
    assert {status for status, _text in answers} == {302}
