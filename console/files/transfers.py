"""Download files and folders of a container, and upload files to it."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import ClassVar

from django.utils.translation import gettext as _

from console.audit.trail import AuditUnavailable
from console.files.commands import ContainerPlace, FileError, ProgramRun, run_program
from console.files.listing import FileEntry, describe
from console.files.query import joined
from console.kube.errors import ApiError
from console.streams.download import IncompleteDownload
from console.streams.memory_quota import QuotaExceeded
from console.streams.stream import StreamEnded
from console.ui.core.permissions import Denied, NotLoaded

#: Maximum bytes of a download and of an upload.
MAX_DOWNLOAD, MAX_UPLOAD = 4 * 2**30, 2**30
#: Maximum seconds of a transfer, and without any data from the browser.
TRANSFER_SECONDS, IDLE_SECONDS = 3600.0, 60.0
#: Seconds that the container has to finish writing after the last byte.
_FINISH_SECONDS = 60.0
#: Seconds between the first two checks of a file's size. Each check runs a program in the container,
#: so the pause doubles.
_FIRST_PAUSE = 0.1
#: Message of GNU tar for files that are written while they are read. The archive is complete.
_CHANGED = "file changed as we read it"


class FileMissing(FileError):
    page_code: ClassVar[int] = 404


class FileTooLarge(FileError):
    page_code: ClassVar[int] = 413


async def open_download(
    place: ContainerPlace, path: str, on_over: Callable[[StreamEnded], None]
) -> tuple[FileEntry, ProgramRun, AsyncGenerator[bytes, None]]:
    """Start to read a file, or a folder as a tar archive. The caller closes the returned run.

    Raise `FileError` if it can't be read.
    """
    found = await describe(place, path) if path != "/" else None
    if found is None:
        if path == "/":
            raise FileError(_("Select a file, or a folder below /."))
        raise FileMissing(_("The file does not exist, or the container may not read it."))
    if not (found.is_file or found.is_folder):
        raise FileError(_("Only regular files and folders can be downloaded."))
    # `-C` follows a symbolic link to a folder.
    command = ("tar", "-cf", "-", "-C", path, ".") if found.is_folder else ("cat", path)
    run = ProgramRun(place, command, on_over)
    await run.open()
    try:
        first = await run.read()
        if not first:
            run.check()
    except BaseException:
        await run.close()
        raise
    return found, run, _all_of(run, first, archive=found.is_folder)


async def _all_of(run: ProgramRun, piece: bytes, *, archive: bool) -> AsyncGenerator[bytes, None]:
    """Yield the output. Raise `IncompleteDownload` if the program fails or exceeds a limit."""
    size, ends = 0, asyncio.get_running_loop().time() + TRANSFER_SECONDS
    try:
        while piece:
            size += len(piece)
            if size > MAX_DOWNLOAD:
                raise IncompleteDownload
            yield piece
            async with asyncio.timeout_at(ends):
                piece = await run.read()
        run.check()
    except TimeoutError as error:
        raise IncompleteDownload from error
    except FileError as error:
        # GNU tar reports this warning with exit code 1.
        code = run.ending.code if run.ending is not None else None
        if not (archive and code == 1 and _CHANGED in run.error_text):
            raise IncompleteDownload from error


async def upload(
    place: ContainerPlace,
    folder: str,
    name: str,
    pieces: AsyncIterator[bytes],
    *,
    replace: bool,
    on_written: Callable[[int], Awaitable[None]] | None = None,
) -> int:
    """Write a file into a folder of the container, and return its size.

    The data is written to a temporary file in the same folder, which then replaces the target, so
    an interrupted upload doesn't change the target. `on_written` receives the number of bytes that
    were sent so far. Raise `FileError` if the container refuses the file.
    """
    target = joined(folder, name)
    await _check_target(place, target, name, replace=replace)
    partial = joined(folder, f".upload-{secrets.token_hex(8)}")
    try:
        async with asyncio.timeout(TRANSFER_SECONDS):
            size = await _write(place, partial, pieces, on_written)
            stored = await describe(place, partial)
            if stored is None or stored.size != size:
                raise FileError(_("The container stored only a part of the file."))
            await _checked(place, ("mv", "-f", partial, target))
    except BaseException as error:
        await asyncio.shield(_remove(place, partial))
        if isinstance(error, TimeoutError):
            raise FileError(_("The upload took too long.")) from error
        raise
    return size


async def _check_target(place: ContainerPlace, target: str, name: str, *, replace: bool) -> None:
    found = await describe(place, target)
    if found is not None and not found.is_file:
        raise FileError(_("%(name)s exists and is not a regular file.") % {"name": name})
    if found is not None and not replace:
        text = _("%(name)s already exists. Select “Replace an existing file” to overwrite it.")
        raise FileError(text % {"name": name})


async def _write(
    place: ContainerPlace,
    path: str,
    pieces: AsyncIterator[bytes],
    on_written: Callable[[int], Awaitable[None]] | None,
) -> int:
    size = 0
    # With `dd`, which closes stdout, containerd ends stdin early.
    run = ProgramRun(place, ("tee", path), stdin=True)
    await run.open()
    try:
        async for piece in pieces:
            size += len(piece)
            if size > MAX_UPLOAD:
                raise FileTooLarge(_("The file is larger than the console accepts."))
            if run.ending is not None:
                break
            await run.type(piece)
            if on_written is not None:
                await on_written(size)
        async with asyncio.timeout(_FINISH_SECONDS):
            if run.can_end_input:
                await run.end_input()
                while await run.read():
                    pass
                run.check()
            else:
                await _until_written(run, place, path, size)
    finally:
        await run.close()
    return size


async def _until_written(run: ProgramRun, place: ContainerPlace, path: str, size: int) -> None:
    """Wait until the file has `size` bytes, for protocols that can't end the input of a program.
    Raise `FileError` if the program fails.
    """
    pause = _FIRST_PAUSE
    while run.ending is None and not run.error_text:
        stored = await describe(place, path)
        if stored is not None and stored.size == size:
            return
        await asyncio.sleep(pause)
        pause *= 2
    if run.ending is not None:
        run.check()
    raise FileError(run.failure_text)


async def _checked(place: ContainerPlace, command: Sequence[str]) -> None:
    (await run_program(place, command)).run.check()


async def _remove(place: ContainerPlace, path: str) -> None:
    """Remove an incomplete file, if the user may still do so."""
    with suppress(
        ApiError, AuditUnavailable, Denied, FileError, NotLoaded, QuotaExceeded, StreamEnded
    ):
        await run_program(place, ("rm", "-f", path))
