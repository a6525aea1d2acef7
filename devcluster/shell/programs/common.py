"""Helpers of the programs: parsing of options, numbers and input files."""

import getopt
from collections.abc import AsyncIterator

from devcluster.shell.pipes import LineReader
from devcluster.shell.processes import Process, ProgramError


def options(
    process: Process, short: str, *, first: bool = False
) -> tuple[dict[str, str], list[str]]:
    """Return the options by letter and the remaining arguments.

    With `first`, option parsing stops at the first argument that is not an option.
    """
    parse = getopt.getopt if first else getopt.gnu_getopt
    try:
        # Colors are not supported.
        given = [word for word in process.arguments[1:] if not word.startswith("--color")]
        found, rest = parse(given, short)
    except getopt.GetoptError as error:
        raise ProgramError(str(error), 2) from error
    return {name[1:]: value for name, value in found}, rest


def number(text: str) -> int:
    try:
        return int(text[:18])
    except ValueError as error:
        raise ProgramError(f"invalid number '{text}'", 2) from error


async def inputs(process: Process, paths: list[str]) -> AsyncIterator[tuple[str, LineReader]]:
    """Yield each named file, or standard input. Files that cannot be read are reported on stderr."""
    for path in paths or ["-"]:
        try:
            yield path, process.reader(path)
        except OSError as error:
            await process.report_error(f"{path}: {error.strerror}")
