"""What programs have in common: their options and numbers."""

import getopt
from collections.abc import AsyncIterator

from devcluster.shell.pipes import Lines
from devcluster.shell.processes import Problem, Process


def options(
    process: Process, short: str, *, first: bool = False
) -> tuple[dict[str, str], list[str]]:
    """The options by their letters, and what else was given. `first`: they end at the first other."""
    parse = getopt.getopt if first else getopt.gnu_getopt
    try:
        # There are no colors here.
        given = [word for word in process.arguments[1:] if not word.startswith("--color")]
        found, rest = parse(given, short)
    except getopt.GetoptError as error:
        raise Problem(str(error), 2) from error
    return {name[1:]: value for name, value in found}, rest


def number(text: str) -> int:
    try:
        return int(text[:18])
    except ValueError as error:
        raise Problem(f"invalid number '{text}'", 2) from error


async def inputs(process: Process, paths: list[str]) -> AsyncIterator[tuple[str, Lines]]:
    """Each file that is named, or standard input. One that cannot be read is complained about."""
    for path in paths or ["-"]:
        try:
            yield path, process.reader(path)
        except OSError as error:
            await process.complain(f"{path}: {error.strerror}")
