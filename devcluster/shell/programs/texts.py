"""Programs that process text."""

import asyncio
import itertools
from collections import deque
from collections.abc import Callable, Mapping

from devcluster.shell.pipes import CHUNK, LIMIT, FileWriter, LimitExceeded, Writer
from devcluster.shell.processes import Process, Program, ProgramError
from devcluster.shell.programs.common import inputs, number, options
from devcluster.shell.programs.matching import compile_pattern

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "\\": "\\"}


def _unescape(text: str) -> str:
    """Replace escape sequences such as `\\n`, `\\t` and `\\033`."""
    found, at = [], 0
    while at < len(text):
        letter = text[at]
        at += 1
        if letter != "\\" or at == len(text):
            found.append(letter)
            continue
        if text[at] == "0":
            digits = "".join(itertools.takewhile(lambda d: d in "01234567", text[at : at + 4]))
            found.append(chr(int(digits, 8) % 256))
            at += len(digits)
        else:
            found.append(_ESCAPES.get(text[at], f"\\{text[at]}"))
            at += 1
    return "".join(found)


async def _echo(process: Process) -> int:
    words, flags = list(process.arguments[1:]), set[str]()
    while words and words[0][:1] == "-" and words[0][1:] and set(words[0][1:]) <= set("neE"):
        flags |= set(words.pop(0)[1:])
    text = " ".join(words)
    text = _unescape(text) if "e" in flags else text
    await process.write_output(text if "n" in flags else f"{text}\n")
    return 0


async def _printf(process: Process) -> int:
    if len(process.arguments) < 2:
        raise ProgramError("usage: printf format [arguments]", 2)
    form, values = _unescape(process.arguments[1]), deque(process.arguments[2:])
    while True:
        held = len(values)
        found, at = [], 0
        while at < len(form):
            sign = form.find("%", at)
            if sign < 0:
                break
            found.append(form[at:sign])
            end = sign + 1
            while end < len(form) and form[end] in "-0123456789." and end - sign < 6:
                end += 1
            kind, spec = form[end : end + 1], form[sign + 1 : end]
            found.append(_formatted(kind, spec, values))
            at = end + 1
        await process.write_output("".join(found) + form[at:])
        if not values or len(values) == held:
            return 0


def _formatted(kind: str, spec: str, values: deque[str]) -> str:
    if kind == "%":
        return "%"
    value = values.popleft() if values else ""
    if any(part and int(part) > 500 for part in spec.strip("-").split(".") if part.isdecimal()):
        raise ProgramError("the width is too large")
    if kind in ("d", "i", "x", "o", "u"):
        form = f"%{spec}{'d' if kind in 'iu' else kind}"
        value = str(form % number(value or "0"))
    elif kind in ("s", "b", "c", "q"):
        shown = value[:1] if kind == "c" else _unescape(value) if kind == "b" else value
        value = str(f"%{spec}s" % shown)
    else:
        raise ProgramError(f"%{kind}: invalid directive")
    return value


async def _cat(process: Process) -> int:
    flags, paths = options(process, "nu")
    status, count = 0, 0
    for path in paths or ["-"]:
        try:
            reader = process.reader(path)
        except OSError as error:
            await process.report_error(f"{path}: {error.strerror}")
            status = 1
            continue
        if "n" in flags:
            while line := await reader.line():
                count += 1
                await process.streams.stdout.write(f"{count:6}\t".encode() + line)
        else:
            while data := await reader.read(CHUNK):
                await process.streams.stdout.write(data)
    return status


async def _head(process: Process) -> int:
    flags, paths = options(_numbered(process), "n:c:q")
    many = len(paths) > 1
    async for path, reader in inputs(process, paths):
        if many:
            await process.write_output(f"==> {path} <==\n")
        if "c" in flags:
            left = number(flags["c"])
            while left > 0 and (data := await reader.read(min(left, CHUNK))):
                left -= len(data)
                await process.streams.stdout.write(data)
            continue
        for _ in range(number(flags.get("n", "10"))):
            if not (line := await reader.line()):
                break
            await process.streams.stdout.write(line)
    return 0


def _numbered(process: Process) -> Process:
    """Replace options such as `-20` with `-n 20`."""
    arguments = [
        f"-n{a[1:]}" if a[1:].isdecimal() and a[0] == "-" else a for a in process.arguments
    ]
    return process.child(arguments)


async def _tail(process: Process) -> int:
    flags, paths = options(_numbered(process), "n:c:fFq")
    text = flags.get("n", "10")
    async for _, reader in inputs(process, paths):
        data = await reader.all()
        if "c" in flags:
            await process.streams.stdout.write(data[-number(flags["c"]) :])
            continue
        lines = data.splitlines(keepends=True)
        wanted = number(text.lstrip("+-"))
        chosen = lines[wanted - 1 :] if text.startswith("+") else lines[len(lines) - wanted :]
        await process.streams.stdout.write(b"".join(chosen if wanted else []))
    if "f" in flags or "F" in flags:
        # Files of a simulated container don't grow.
        await asyncio.Event().wait()
    return 0


async def _grep(process: Process) -> int:
    flags, rest = options(process, "EFivnclqohHrwse:")
    if "e" in flags:
        rest = [flags["e"], *rest]
    if not rest:
        raise ProgramError("usage: grep [-EFivnclq] pattern [file]...", 2)
    fixed, extended = "F" in flags, "E" in flags or process.name == "egrep"
    matches = compile_pattern(rest[0], fixed=fixed, extended=extended, ignore_case="i" in flags)
    paths = list(_below(process, rest[1:])) if "r" in flags else rest[1:]
    named = len(paths) > 1 and "h" not in flags
    status = 1
    async for path, reader in inputs(process, paths):
        count = place = 0
        while raw := await reader.line():
            place += 1
            line = raw.decode(errors="surrogateescape").rstrip("\n")
            if matches(line) == ("v" in flags):
                continue
            count, status = count + 1, 0
            if "q" in flags:
                return 0
            if not {"c", "l"} & set(flags):
                before = f"{path}:" if named else ""
                before += f"{place}:" if "n" in flags else ""
                await process.write_output(f"{before}{line}\n")
        if "c" in flags:
            await process.write_output(f"{path}:{count}\n" if named else f"{count}\n")
        elif "l" in flags and count:
            await process.write_output(f"{path}\n")
    return status


def _below(process: Process, paths: list[str]) -> list[str]:
    """Return the readable files in the folders."""
    found = []
    for path in paths or ["."]:
        for place, _ in process.files.walk(process.path(path)):
            try:
                process.files.read(place)
            except OSError:
                continue
            found.append(place)
    return found


async def _wc(process: Process) -> int:
    flags, paths = options(process, "lwcm")
    shown = [flag for flag in "lwc" if flag in flags] or ["l", "w", "c"]
    total = dict.fromkeys("lwc", 0)
    single = len(shown) == 1 and len(paths) < 2

    async def tell(counts: Mapping[str, int], path: str) -> None:
        parts = [str(counts[flag]).rjust(1 if single else 7) for flag in shown]
        await process.write_output(" ".join(parts) + (f" {path}" if path != "-" else "") + "\n")

    async for path, reader in inputs(process, paths):
        counts, inside = dict.fromkeys("lwc", 0), False
        while data := await reader.read(CHUNK):
            counts["l"] += data.count(b"\n")
            counts["c"] += len(data)
            counts["w"] += len(data.split()) - (inside and not data[:1].isspace())
            inside = not data[-1:].isspace()
        for flag in total:
            total[flag] += counts[flag]
        await tell(counts, path)
    if len(paths) > 1:
        await tell(total, "total")
    return 0


async def _text_of(process: Process, paths: list[str]) -> str:
    found = bytearray()
    async for _, reader in inputs(process, paths):
        found += await reader.all()
        if len(found) > LIMIT:
            raise LimitExceeded
    return found.decode(errors="surrogateescape")


async def _sort(process: Process) -> int:
    flags, paths = options(process, "rnuk:t:")
    lines = (await _text_of(process, paths)).splitlines()
    place = number(flags["k"].partition(",")[0].rstrip("nr")) - 1 if "k" in flags else -1

    def key(line: str) -> tuple[float, str]:
        fields = line.split(flags.get("t"))
        text = line if place < 0 else fields[place] if place < len(fields) else ""
        if "n" not in flags:
            return 0, text
        digits = "".join(itertools.takewhile(lambda c: c in "-.0123456789", text.lstrip()))
        try:
            return float(digits), text
        except ValueError:
            return 0, text

    lines.sort(key=key, reverse="r" in flags)
    lines = list(dict.fromkeys(lines)) if "u" in flags else lines
    await process.write_output("".join(f"{line}\n" for line in lines))
    return 0


async def _uniq(process: Process) -> int:
    flags, paths = options(process, "cdu")
    for line, same in itertools.groupby((await _text_of(process, paths)).splitlines()):
        count = len(list(same))
        if not ("d" in flags and count == 1) and not ("u" in flags and count > 1):
            await process.write_output(f"{count:7} {line}\n" if "c" in flags else f"{line}\n")
    return 0


async def _cut(process: Process) -> int:
    flags, paths = options(process, "d:f:c:s")
    chosen = _ranges(flags.get("f") or flags.get("c") or "")
    between = flags.get("d", "\t")
    for line in (await _text_of(process, paths)).splitlines():
        if "f" in flags and between not in line:
            shown = line
        else:
            parts = line.split(between) if "f" in flags else list(line)
            kept = [part for place, part in enumerate(parts, 1) if chosen(place)]
            shown = (between if "f" in flags else "").join(kept)
        await process.write_output(f"{shown}\n")
    return 0


def _ranges(text: str) -> Callable[[int], bool]:
    """Return a function that tests if a position is in a list such as `1,3-5,7-`."""
    if not text:
        raise ProgramError("you must specify a list of bytes, characters, or fields")
    pairs = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        low = number(first or "1")
        pairs.append((low, (number(last) if last else 2**31) if dash else low))
    return lambda place: any(low <= place <= high for low, high in pairs)


async def _tr(process: Process) -> int:
    flags, sets = options(process, "ds")
    if not sets:
        raise ProgramError("missing operand")
    first = _letters(sets[0])
    second = _letters(sets[1]) if len(sets) > 1 else ""
    filled = second.ljust(len(first), second[-1:] or " ")
    table = str.maketrans(
        dict.fromkeys(first, None) if "d" in flags else dict(zip(first, filled, strict=False))
    )
    while line := await process.streams.stdin.line():
        await process.write_output(line.decode(errors="surrogateescape").translate(table))
    return 0


def _letters(text: str) -> str:
    """Expand ranges such as `a-z` to all their characters."""
    text = text.replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z").replace("[:digit:]", "0-9")
    text, found, at = _unescape(text), "", 0
    while at < len(text):
        if text[at + 1 : at + 2] == "-" and at + 2 < len(text):
            found += "".join(map(chr, range(ord(text[at]), min(ord(text[at + 2]), 0x10FF) + 1)))
            at += 3
        else:
            found += text[at]
            at += 1
    return found


async def _tee(process: Process) -> int:
    flags, paths = options(process, "a")
    outputs: list[Writer] = [process.streams.stdout]
    outputs += [FileWriter(process.files, process.path(p), append="a" in flags) for p in paths]
    while data := await process.streams.stdin.read(CHUNK):
        for output in outputs:
            await output.write(data)
    return 0


async def _seq(process: Process) -> int:
    values = [number(text) for text in process.arguments[1:]]
    if not 1 <= len(values) <= 3:
        raise ProgramError("usage: seq [first [step]] last")
    first, step, last = 1, 1, values[-1]
    if len(values) > 1:
        first = values[0]
    if len(values) > 2:
        step = values[1] or 1
    for value in range(first, last + (1 if step > 0 else -1), step):
        await process.write_output(f"{value}\n")
    return 0


async def _yes(process: Process) -> int:
    line = " ".join(process.arguments[1:]) or "y"
    while True:
        await process.write_output(f"{line}\n")


TEXTS: Mapping[str, Program] = {
    "cat": _cat,
    "cut": _cut,
    "echo": _echo,
    "egrep": _grep,
    "grep": _grep,
    "head": _head,
    "less": _cat,
    "more": _cat,
    "printf": _printf,
    "seq": _seq,
    "sort": _sort,
    "tail": _tail,
    "tee": _tee,
    "tr": _tr,
    "uniq": _uniq,
    "wc": _wc,
    "yes": _yes,
}
