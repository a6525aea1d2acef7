"""The `test` and `[` commands."""

from collections.abc import Mapping

from devcluster.shell.files import Binary, Device, Folder
from devcluster.shell.processes import Process, Program, ProgramError
from devcluster.shell.programs.common import number
from devcluster.shell.programs.files import size_of


async def _test(process: Process) -> int:
    words = list(process.arguments[1:])
    if process.name == "[":
        if words[-1:] != ["]"]:
            raise ProgramError("missing ]", 2)
        words.pop()
    for joint, sign in (("-o", any), ("-a", all)):
        if joint in words[1:-1]:
            place = words.index(joint, 1)
            return int(not sign(_holds(process, w) for w in (words[:place], words[place + 1 :])))
    return int(not _holds(process, words))


def _holds(process: Process, words: list[str]) -> bool:
    match words:
        case []:
            return False
        case ["!", *rest]:
            return not _holds(process, rest)
        case [text]:
            return bool(text)
        case ["-n" | "-z" as sign, text]:
            return bool(text) == (sign == "-n")
        case ["-t", text]:
            streams = process.streams
            ends = {"0": streams.stdin.source, "1": streams.stdout, "2": streams.stderr}
            return process.terminal is not None and ends.get(text) is process.terminal
        case [sign, path] if len(sign) == 2 and sign[0] == "-":
            return _is(process, sign, path)
        case [left, "=" | "==", right]:
            return left == right
        case [left, "!=", right]:
            return left != right
        case [left, sign, right]:
            a, b = number(left), number(right)
            order = {"-eq": a == b, "-ne": a != b, "-lt": a < b, "-le": a <= b}
            order |= {"-gt": a > b, "-ge": a >= b}
            if sign in order:
                return order[sign]
    raise ProgramError("unexpected operator", 2)


def _is(process: Process, sign: str, path: str) -> bool:
    node = process.files.find(process.path(path))
    match sign:
        case "-e" | "-r" | "-w":
            return node is not None
        case "-f":
            return node is not None and not isinstance(node, Folder | Device)
        case "-d":
            return isinstance(node, Folder)
        case "-x":
            return isinstance(node, Folder | Binary)
        case "-s":
            return node is not None and size_of(process.files, process.path(path), node) > 0
        case "-c":
            return isinstance(node, Device)
        case "-L" | "-h" | "-S" | "-p" | "-b":
            return False
    raise ProgramError(f"{sign}: unknown operand", 2)


CONDITIONS: Mapping[str, Program] = {"[": _test, "test": _test}
