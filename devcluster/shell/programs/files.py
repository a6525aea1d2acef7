"""Programs that operate on files and folders."""

import errno
import fnmatch
import os
import re
import stat
import tarfile
from collections.abc import Mapping
from datetime import UTC
from functools import partial

from devcluster.shell.files import Device, Files, Folder, Node
from devcluster.shell.processes import Process, Program, ProgramError
from devcluster.shell.programs.common import number, options
from devcluster.shell.programs.system import run_other


def size_of(files: Files, path: str, node: Node) -> int:
    return 4096 if isinstance(node, Folder) else len(files.read(path))


def _mode(node: Node) -> str:
    kind = "d" if isinstance(node, Folder) else "c" if isinstance(node, Device) else "-"
    bits = "".join("rwx"[2 - bit % 3] if node.mode >> bit & 1 else "-" for bit in range(8, -1, -1))
    return kind + bits


def _row(files: Files, path: str, name: str, node: Node) -> str:
    links = 2 if isinstance(node, Folder) else 1
    size, when = size_of(files, path, node), node.changed.strftime("%b %e %H:%M")
    return f"{_mode(node)} {links:4} root     root     {size:9} {when} {name}"


async def _ls(process: Process) -> int:
    flags, paths = options(process, "laA1dhRtrFi")
    files, status = process.files, 0
    alone: list[tuple[str, Node]] = []
    folders: list[tuple[str, Folder]] = []
    for path in paths or ["."]:
        node = files.find(process.path(path))
        if node is None:
            await process.report_error(f"{path}: No such file or directory")
            status = 1
        elif isinstance(node, Folder) and "d" not in flags:
            folders.append((path, node))
        else:
            alone.append((path, node))
    await _show(process, flags, "", alone)
    for place, (path, folder) in enumerate(folders):
        if len(folders) + len(alone) > 1:
            await process.write_output(f"{chr(10) if place or alone else ''}{path}:\n")
        entries = sorted(folder.entries().items())
        if "t" in flags:
            entries.sort(key=lambda entry: entry[1].changed, reverse=True)
        if not {"a", "A"} & set(flags):
            entries = [entry for entry in entries if not entry[0].startswith(".")]
        if "a" in flags:
            entries = [(".", folder), ("..", folder), *entries]
        if "l" in flags:
            await process.write_output(f"total {4 * len(entries)}\n")
        await _show(process, flags, process.path(path), entries)
    return status


async def _show(
    process: Process, flags: Mapping[str, str], above: str, entries: list[tuple[str, Node]]
) -> None:
    if "r" in flags:
        entries = entries[::-1]
    if "l" in flags:
        for name, node in entries:
            path = process.path(f"{above}/{name}" if above else name)
            await process.write_output(_row(process.files, path, name, node) + "\n")
        return
    names = [name for name, _ in entries]
    terminal = process.terminal
    if terminal is None or process.streams.stdout is not terminal or "1" in flags or not names:
        await process.write_output("".join(f"{name}\n" for name in names))
        return
    width = max(map(len, names)) + 2
    columns = max(1, (terminal.columns or 80) // width)
    rows = -(-len(names) // columns)
    for row in range(rows):
        await process.write_output(
            "".join(n.ljust(width) for n in names[row::rows]).rstrip() + "\n"
        )


async def _mkdir(process: Process) -> int:
    flags, paths = options(process, "pm:")
    for path in paths:
        wanted = process.path(path)
        if "p" not in flags:
            process.files.make_folder(wanted)
            continue
        steps = wanted.strip("/").split("/")
        for count in range(1, len(steps) + 1):
            above = "/" + "/".join(steps[:count])
            if not isinstance(process.files.find(above), Folder):
                process.files.make_folder(above)
    return 0


async def _rm(process: Process) -> int:
    flags, paths = options(process, "rRfv")
    files, deep = process.files, {"r", "R"} & set(flags)
    for path in paths:
        wanted = process.path(path)
        found = files.find(wanted)
        if found is None and "f" in flags:
            continue
        if isinstance(found, Folder) and not deep:
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        for place in [place for place, _ in files.walk(wanted)][::-1]:
            files.remove(place)
    return 0


async def _rmdir(process: Process) -> int:
    for path in process.arguments[1:]:
        process.files.folder(process.path(path))
        process.files.remove(process.path(path))
    return 0


async def _touch(process: Process) -> int:
    _, paths = options(process, "acm")
    for path in paths:
        process.files.write(process.path(path), b"", append=True)
    return 0


async def _transfer(process: Process, *, move: bool = False) -> int:
    _, paths = options(process, "rRfap")
    if len(paths) < 2:
        raise ProgramError("missing file operand")
    files, *sources = process.files, *paths[:-1]
    target = process.path(paths[-1])
    for path in sources:
        source = process.path(path)
        into = isinstance(files.find(target), Folder)
        place = f"{target.rstrip('/')}/{source.rpartition('/')[2]}" if into else target
        if f"{place}/".startswith(f"{source}/"):
            raise ProgramError(f"cannot copy '{path}' into itself")
        for inner, node in list(files.walk(source)):
            copy = place + inner[len(source) :]
            if not isinstance(node, Folder):
                files.write(copy, files.read(inner))
            elif not isinstance(files.find(copy), Folder):
                files.make_folder(copy)
        if move:
            for inner in [inner for inner, _ in files.walk(source)][::-1]:
                files.remove(inner)
    return 0


async def _find(process: Process) -> int:
    words = list(process.arguments[1:])
    starts = []
    while words and not words[0].startswith("-"):
        starts.append(words.pop(0))
    at = words.index("-exec") if "-exec" in words else len(words)
    program, words = words[at + 1 :], words[:at]
    if program and program[-2:] != ["{}", "+"]:
        raise ProgramError("-exec must end with {} +")
    tests = dict(zip(words[::2], words[1::2], strict=False))
    if unknown := set(tests) - {"-name", "-type", "-maxdepth", "-mindepth"}:
        raise ProgramError(f"unrecognized: {min(unknown)}")
    deepest = number(tests.get("-maxdepth", "1000"))
    highest = number(tests.get("-mindepth", "0"))
    found: list[str] = []
    for start in starts or ["."]:
        root = process.path(start)
        if start.endswith("/."):
            process.files.folder(root)
        for place, node in process.files.walk(root):
            below = place[len(root) :] if root != "/" else place.rstrip("/")
            name, kind = place.rpartition("/")[2] or "/", "d" if isinstance(node, Folder) else "f"
            fits = fnmatch.fnmatchcase(name, tests.get("-name", "*"))
            fits = fits and tests.get("-type", kind) == kind
            if fits and highest <= below.count("/") <= deepest:
                found.append((start if start != "/" else "") + (below or ""))
    if program:
        return await run_other(process, [*program[:-2], *found]) if found else 0
    for path in found:
        await process.write_output(f"{path}\n")
    return 0


async def _df(process: Process) -> int:
    await process.write_output(
        "Filesystem     1K-blocks     Used Available Use% Mounted on\n"
        "overlay        203070420 61204512 131481124  32% /\n"
        "tmpfs              65536        0     65536   0% /dev\n"
        "shm                65536        0     65536   0% /dev/shm\n"
    )
    return 0


async def _du(process: Process) -> int:
    _, paths = options(process, "shkd:")
    for path in paths or ["."]:
        files = process.files
        sizes = (size_of(files, p, n) for p, n in files.walk(process.path(path)))
        await process.write_output(f"{sum(-(-size // 4096) * 4 for size in sizes)}\t{path}\n")
    return 0


async def _stat(process: Process) -> int:
    given, paths = options(process, "Lc:")
    for path in paths:
        node = process.files.node(process.path(path))
        size = size_of(process.files, process.path(path), node)
        if "c" in given:
            await process.write_output(_described(given["c"], path, node, size) + "\n")
            continue
        when = node.changed.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f000 +0000")
        access = f"({node.mode:04o}/{_mode(node)})  Uid: (    0/    root)   Gid: (    0/    root)"
        await process.write_output(
            f"  File: {path}\n  Size: {size}\nAccess: {access}\nModify: {when}\n"
        )
    return 0


def _described(form: str, path: str, node: Node, size: int) -> str:
    """Replace the directives of `stat -c`."""
    kind = stat.S_IFDIR if isinstance(node, Folder) else stat.S_IFREG
    if isinstance(node, Device):
        kind = stat.S_IFCHR
    values = {
        "f": f"{kind | node.mode:x}",
        "s": str(size),
        "Y": str(int(node.changed.timestamp())),
        "u": "0",
        "g": "0",
        "U": "root",
        "G": "root",
        "n": path,
        "N": f"'{path}'",
    }
    return re.sub("%(.)", lambda match: values.get(match[1], "?"), form)


async def _tar(process: Process) -> int:
    """Write an archive of a folder to standard output: `tar -cf - -C FOLDER .`."""
    words = [*process.arguments[1:]]
    if words[:3] != ["-cf", "-", "-C"] or words[4:] != ["."]:
        raise ProgramError("only -cf - -C FOLDER . is supported", 2)
    files, root = process.files, process.path(words[3])
    files.folder(root)
    for path, node in files.walk(root):
        entry = tarfile.TarInfo("." + path[len(root.rstrip("/")) :])
        entry.mode, entry.mtime = node.mode, int(node.changed.timestamp())
        data = b""
        if isinstance(node, Folder):
            entry.type = tarfile.DIRTYPE
        elif isinstance(node, Device):
            continue
        else:
            data = files.read(path)
        entry.size = len(data)
        padding = -len(data) % tarfile.BLOCKSIZE
        await process.streams.stdout.write(entry.tobuf() + data + bytes(padding))
    await process.streams.stdout.write(bytes(2 * tarfile.BLOCKSIZE))
    return 0


async def _chmod(process: Process) -> int:
    _, rest = options(process, "R", first=True)
    for path in rest[1:]:
        process.files.node(process.path(path))
    return 0


async def _basename(process: Process) -> int:
    name = (process.arguments[1] if len(process.arguments) > 1 else "").rstrip("/")
    found = name.rpartition("/")[2]
    suffix = process.arguments[2] if len(process.arguments) > 2 else ""
    await process.write_output(f"{found.removesuffix(suffix)}\n")
    return 0


async def _dirname(process: Process) -> int:
    name = (process.arguments[1] if len(process.arguments) > 1 else "").rstrip("/")
    await process.write_output(f"{name.rpartition('/')[0] or ('/' if name[:1] == '/' else '.')}\n")
    return 0


async def _realpath(process: Process) -> int:
    _, paths = options(process, "fe")
    for path in paths:
        await process.write_output(f"{process.path(path)}\n")
    return 0


FILES: Mapping[str, Program] = {
    "basename": _basename,
    "chmod": _chmod,
    "chown": _chmod,
    "cp": _transfer,
    "df": _df,
    "dirname": _dirname,
    "du": _du,
    "find": _find,
    "ls": _ls,
    "mkdir": _mkdir,
    "mv": partial(_transfer, move=True),
    "realpath": _realpath,
    "rm": _rm,
    "rmdir": _rmdir,
    "stat": _stat,
    "tar": _tar,
    "touch": _touch,
}
