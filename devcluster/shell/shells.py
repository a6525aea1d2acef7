"""The `sh` and `bash` programs, and the table of all programs of a container."""

from collections.abc import Mapping

from devcluster.shell.builtins import BUILTINS
from devcluster.shell.files import absolute
from devcluster.shell.interactive import run_interactive
from devcluster.shell.interpreter import Shell
from devcluster.shell.processes import Process, Program, ProgramError
from devcluster.shell.programs.conditions import CONDITIONS
from devcluster.shell.programs.files import FILES
from devcluster.shell.programs.system import SYSTEM
from devcluster.shell.programs.texts import TEXTS


async def _sh(process: Process) -> int:
    words, flags = list(process.arguments[1:]), set[str]()
    while words and words[0][:1] in ("-", "+"):
        option = words.pop(0)
        # Long options, such as --login of bash, are ignored.
        flags |= set() if option.startswith("--") else set(option[1:])
    if "c" in flags:
        if not words:
            raise ProgramError("-c requires an argument", 2)
        shell = Shell(process, words[1:] or [process.name], BUILTINS)
        shell.options |= flags & set("eux")
        return await shell.run_text(words[0])
    if words and "s" not in flags:
        data = process.files.read(absolute(process.folder, words[0]))
        shell = Shell(process, words, BUILTINS)
        return await shell.run_text(data.decode(errors="surrogateescape"))
    shell = Shell(process, [process.name, *words], BUILTINS)
    return await run_interactive(shell)


#: Programs of images with a shell. The image determines which of the shells exist.
PROGRAMS: Mapping[str, Program] = {
    **CONDITIONS,
    **SYSTEM,
    **FILES,
    **TEXTS,
    "ash": _sh,
    "bash": _sh,
    "sh": _sh,
}
