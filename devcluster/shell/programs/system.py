"""Programs that show system information: users, processes, time."""

import asyncio
import signal
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from devcluster.shell.processes import (
    NOT_EXECUTABLE,
    NOT_FOUND,
    PATH,
    Process,
    Program,
    ProgramError,
)
from devcluster.shell.programs.common import number, options

RELEASE = "6.12.57+deb13-amd64"
VERSION = "#1 SMP PREEMPT_DYNAMIC Debian 6.12.57-1 (2025-11-05)"
MEMORY, PROCESSORS = 16_318_496, 4
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


async def _true(process: Process) -> int:
    return 0


async def _false(process: Process) -> int:
    return 1


async def _env(process: Process) -> int:
    _, words = options(process, "iu:", first=True)
    environment = dict(process.environment)
    while words and "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if words:
        return await run_other(process, words, environment)
    for name, value in environment.items():
        await process.write_output(f"{name}={value}\n")
    return 0


async def _printenv(process: Process) -> int:
    names = process.arguments[1:]
    if not names:
        return await _env(process)
    for name in names:
        if name not in process.environment:
            return 1
        await process.write_output(f"{process.environment[name]}\n")
    return 0


async def run_other(
    process: Process, words: Sequence[str], environment: dict[str, str] | None = None
) -> int:
    """Run another program with the streams of this process."""
    given = process.environment if environment is None else environment
    container = process.container
    try:
        _, program = container.find_program(words[0], given.get("PATH", PATH), process.folder)
    except OSError as error:
        await process.report_error(f"{words[0]}: {error.strerror}")
        return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
    return await container.run(program, process.child(words, environment=given))


async def _timeout(process: Process) -> int:
    _, words = options(process, "k:s:", first=True)
    if len(words) < 2:
        raise ProgramError("usage: timeout duration command [arguments]", 125)
    try:
        async with asyncio.timeout(_seconds(words[:1])):
            return await run_other(process, words[1:])
    except TimeoutError:
        return 124


async def _time(process: Process) -> int:
    start = datetime.now(UTC)
    code = await run_other(process, process.arguments[1:]) if len(process.arguments) > 1 else 0
    took = (datetime.now(UTC) - start).total_seconds()
    real = f"real\t{int(took) // 60}m {took % 60:.2f}s\nuser\t0m 0.00s\nsys\t0m 0.00s\n"
    await process.streams.stderr.write(real.encode())
    return code


async def _sleep(process: Process) -> int:
    if len(process.arguments) < 2:
        raise ProgramError("missing operand")
    await asyncio.sleep(_seconds(process.arguments[1:]))
    return 0


def _seconds(texts: Sequence[str]) -> float:
    """Return the sum of the durations in seconds, limited to one year."""
    total = 0.0
    for text in texts:
        unit = _UNITS.get(text[-1:], 0)
        try:
            total += float(text[:-1] if unit else text) * (unit or 1)
        except ValueError as error:
            raise ProgramError(f"invalid time interval '{text}'") from error
    most = 365.0 * 86400
    return total if 0 <= total <= most else most


async def _whoami(process: Process) -> int:
    await process.write_output(f"{process.container.user.name}\n")
    return 0


async def _id(process: Process) -> int:
    flags, _ = options(process, "ugnG")
    user = process.container.user
    named = user.name if "n" in flags else str(user.uid)
    group = user.name if "n" in flags else str(user.gid)
    whole = (
        f"uid={user.uid}({user.name}) gid={user.gid}({user.name}) groups={user.gid}({user.name})"
    )
    await process.write_output((named if "u" in flags else group if flags else whole) + "\n")
    return 0


async def _hostname(process: Process) -> int:
    flags, _ = options(process, "ifs")
    found = process.files.read("/etc/hosts").decode().splitlines()
    mine = next((line.split()[0] for line in found if process.container.hostname in line), "")
    await process.write_output(f"{mine if 'i' in flags else process.container.hostname}\n")
    return 0


async def _uname(process: Process) -> int:
    flags, _ = options(process, "asnrvmo")
    values = {"s": "Linux", "n": process.container.hostname, "r": RELEASE, "v": VERSION}
    values |= {"m": "x86_64", "o": "GNU/Linux"}
    wanted = values if "a" in flags else flags or {"s": ""}
    await process.write_output(" ".join(values[name] for name in values if name in wanted) + "\n")
    return 0


_STRFTIME = frozenset("aAbBcdDeFHIjmMnpPrRsStTuUVwWxXyYZz%NhklCGg")


async def _date(process: Process) -> int:
    flags, rest = options(process, "uRId:")
    if "d" in flags or any(not word.startswith("+") for word in rest):
        raise ProgramError("setting the clock and formatting other times are not supported")
    now, form = datetime.now(UTC), rest[0][1:] if rest else "%a %b %e %H:%M:%S UTC %Y"
    if "I" in flags:
        form = "%Y-%m-%d"
    if "R" in flags:
        form = "%a, %d %b %Y %H:%M:%S +0000"
    form = (
        form[:200]
        .replace("%N", f"{now.microsecond:06}000")
        .replace("%s", str(int(now.timestamp())))
    )
    for before, letter in zip(form, form[1:], strict=False):
        if before == "%" and letter not in _STRFTIME:
            raise ProgramError(f"%{letter}: unknown conversion")
    await process.write_output(now.strftime(form) + "\n")
    return 0


async def _uptime(process: Process) -> int:
    now = datetime.now(UTC)
    up = now - process.container.processes[1].started
    hours, minutes = divmod(int(up.total_seconds()) % 86400 // 60, 60)
    days = f"{up.days} days, " if up.days else ""
    await process.write_output(
        f" {now:%H:%M:%S} up {days}{hours:2}:{minutes:02},  load average: 0.18, 0.21, 0.24\n"
    )
    return 0


async def _ps(process: Process) -> int:
    # The output format is fixed, so options such as `aux` and `-ef` are ignored.
    user = process.container.user.name
    await process.write_output("PID   USER     TIME  COMMAND\n")
    for pid, one in sorted(process.container.processes.items()):
        shown = " ".join(one.arguments) if len(one.arguments) else "?"
        await process.write_output(f"{pid:5} {user:8}  0:00 {shown}\n")
    return 0


async def _top(process: Process) -> int:
    used = MEMORY // 3
    processes = process.container.processes
    await process.write_output(
        f"Mem: {used}K used, {MEMORY - used}K free, 12044K shrd, 182736K buff, 4023120K cached\n"
        "CPU:   4% usr   1% sys   0% nic  94% idle   0% io   0% irq   0% sirq\n"
        f"Load average: 0.18 0.21 0.24 1/{240 + len(processes)} {process.pid}\n"
        "  PID  PPID USER     STAT   VSZ %VSZ CPU %CPU COMMAND\n"
    )
    for pid, one in sorted(processes.items()):
        stat, parent = ("R" if one is process else "S"), 0 if pid == 1 else 1
        user = process.container.user.name
        await process.write_output(
            f"{pid:5} {parent:5} {user:8} {stat}     4388   0%   0   0% {' '.join(one.arguments)}\n"
        )
    return 0


async def _kill(process: Process) -> int:
    words, sent = list(process.arguments[1:]), int(signal.SIGTERM)
    if words[:1] == ["-l"]:
        await process.write_output(" ".join(s.name[3:] for s in signal.Signals) + "\n")
        return 0
    if words[:1] == ["-s"] and len(words) > 1:
        words[:2] = [f"-{words[1]}"]
    if words and words[0].startswith("-") and words[0] != "--":
        sent = _signal(words.pop(0)[1:])
    status = 0
    for text in words:
        target = process.container.processes.get(number(text))
        if target is None:
            await process.report_error(f"can't kill pid {text}: No such process")
            status = 1
        elif sent:
            # The main process has no task. As in a real container, a signal without a handler does
            # not affect it.
            target.kill(sent)
    return status


def _signal(text: str) -> int:
    if text.isdecimal() and int(text[:3]) < 65:
        return int(text[:3])
    try:
        return int(signal.Signals[f"SIG{text.upper().removeprefix('SIG')}"])
    except KeyError as error:
        raise ProgramError(f"bad signal name '{text}'") from error


async def _pidof(process: Process) -> int:
    found = [
        str(pid)
        for pid, one in process.container.processes.items()
        if one.name in process.arguments[1:]
    ]
    await process.write_output(" ".join(found) + "\n" if found else "")
    return int(not found)


async def _free(process: Process) -> int:
    divider = 1024 if "-m" in process.arguments else 1
    total, used = MEMORY // divider, MEMORY // 3 // divider
    await process.write_output(
        "              total        used        free      shared  buff/cache   available\n"
        f"Mem:    {total:11} {used:11} {total - used:11} {12044 // divider:11} "
        f"{4205856 // divider:11} {total - used:11}\n"
    )
    return 0


async def _nproc(process: Process) -> int:
    await process.write_output(f"{PROCESSORS}\n")
    return 0


async def _stty(process: Process) -> int:
    terminal = process.terminal
    if terminal is None:
        raise ProgramError("standard input: Inappropriate ioctl for device")
    if process.arguments[1:] == ("size",):
        await process.write_output(f"{terminal.rows} {terminal.columns}\n")
    elif len(process.arguments) == 1 or process.arguments[1:] == ("-a",):
        size = f"rows {terminal.rows}; columns {terminal.columns};"
        await process.write_output(
            f"speed 38400 baud; {size}\nisig icanon iexten echo echoe echok\n"
        )
    return 0


async def _tty(process: Process) -> int:
    await process.write_output("/dev/pts/0\n" if process.terminal else "not a tty\n")
    return int(process.terminal is None)


async def _clear(process: Process) -> int:
    await process.write_output("\x1b[H\x1b[2J")
    return 0


async def _which(process: Process) -> int:
    status = 0
    for name in process.arguments[1:]:
        try:
            path = process.environment.get("PATH", PATH)
            place, _ = process.container.find_program(name, path, process.folder)
        except OSError:
            status = 1
        else:
            await process.write_output(f"{place}\n")
    return status


async def _mount(process: Process) -> int:
    for line in process.files.read("/proc/mounts").decode().splitlines():
        source, place, kind, flags, *_ = line.split()
        await process.write_output(f"{source} on {place} type {kind} ({flags})\n")
    return 0


SYSTEM: Mapping[str, Program] = {
    "clear": _clear,
    "date": _date,
    "env": _env,
    "false": _false,
    "free": _free,
    "hostname": _hostname,
    "id": _id,
    "kill": _kill,
    "mount": _mount,
    "nproc": _nproc,
    "pidof": _pidof,
    "printenv": _printenv,
    "ps": _ps,
    "reset": _clear,
    "sleep": _sleep,
    "stty": _stty,
    "sync": _true,
    "time": _time,
    "timeout": _timeout,
    "top": _top,
    "true": _true,
    "tty": _tty,
    "uname": _uname,
    "uptime": _uptime,
    "which": _which,
    "whoami": _whoami,
}
