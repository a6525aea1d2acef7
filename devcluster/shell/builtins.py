"""Shell builtins: commands that access the state of the shell."""

import errno
import os
from collections.abc import Mapping

from devcluster.shell.files import absolute
from devcluster.shell.interpreter import Builtin, Exit, Invocation, LoopControl, Shell
from devcluster.shell.processes import NOT_FOUND, PATH, ProgramError
from devcluster.shell.programs.common import number


async def _true(call: Invocation) -> int:
    return 0


async def _cd(call: Invocation) -> int:
    shell = call.shell
    target = call.arguments[0] if call.arguments else shell.value("HOME") or "/"
    if target == "-":
        target = shell.value("OLDPWD") or shell.folder
        await call.out(f"{target}\n")
    folder = absolute(shell.folder, target)
    try:
        shell.files.folder(folder)
    except OSError as error:
        raise ProgramError(f"cd: can't cd to {target}: {error.strerror}", 2) from error
    shell.assign("OLDPWD", shell.folder)
    shell.folder = folder
    return 0


async def _pwd(call: Invocation) -> int:
    await call.out(f"{call.shell.folder}\n")
    return 0


async def _exit(call: Invocation) -> int:
    status = call.shell.status
    raise Exit(number(call.arguments[0]) % 256 if call.arguments else status)


async def _break(call: Invocation) -> int:
    raise LoopControl(max(1, number((call.arguments or ["1"])[0])), again=False)


async def _continue(call: Invocation) -> int:
    raise LoopControl(max(1, number((call.arguments or ["1"])[0])), again=True)


async def _export(call: Invocation) -> int:
    shell = call.shell
    if not call.arguments or call.arguments == ["-p"]:
        for name in sorted(shell.exported & set(shell.variables)):
            await call.out(f"export {name}='{shell.variables[name]}'\n")
    for argument in call.arguments:
        name, sign, value = argument.partition("=")
        if sign:
            shell.assign(name, value)
        shell.exported.add(name)
    return 0


async def _unset(call: Invocation) -> int:
    for name in call.arguments:
        call.shell.variables.pop(name, None)
        call.shell.exported.discard(name)
    return 0


async def _set(call: Invocation) -> int:
    shell, arguments = call.shell, list(call.arguments)
    if not arguments:
        for name in sorted(shell.variables):
            await call.out(f"{name}='{shell.variables[name]}'\n")
    while arguments and arguments[0][:1] in ("-", "+") and arguments[0] != "--":
        option = arguments.pop(0)
        change = shell.options.update if option[0] == "-" else shell.options.difference_update
        change(set(option[1:]) & set("eux"))
        if option[1:] == "o" and arguments:
            arguments.pop(0)
    if arguments:
        shell.positional = arguments[arguments[0] == "--" :]
    return 0


async def _shift(call: Invocation) -> int:
    del call.shell.positional[: number((call.arguments or ["1"])[0])]
    return 0


async def _read(call: Invocation) -> int:
    words = list(call.arguments)
    while words and words[0].startswith("-"):
        if words.pop(0).endswith("p") and words:
            await call.shell.write_error(words.pop(0))
    names = words or ["REPLY"]
    line = await call.streams.stdin.line()
    values = line.decode(errors="surrogateescape").rstrip("\n").split(None, len(names) - 1)
    for place, name in enumerate(names):
        call.shell.assign(name, values[place].strip() if place < len(values) else "")
    return 0 if line.endswith(b"\n") else 1


async def _eval(call: Invocation) -> int:
    shell = call.shell
    shell.process.depth += 1
    if shell.process.depth > 20:
        raise ProgramError("eval: too deeply nested")
    try:
        return await shell.script_of(" ".join(call.arguments))
    finally:
        shell.process.depth -= 1


async def _exec(call: Invocation) -> int:
    if not call.arguments:
        return 0
    raise Exit(await call.shell.execute(call.arguments, call.streams, {}))


async def _command(call: Invocation) -> int:
    arguments = call.arguments
    if arguments[:1] in (["-v"], ["-V"]):
        return await _where(call, arguments[1:])
    if not arguments:
        return 0
    builtin = call.shell.builtins.get(arguments[0])
    if builtin:
        return await builtin(call._replace(arguments=arguments[1:]))
    return await call.shell.execute(arguments, call.streams, {})


def _place(shell: Shell, name: str) -> str:
    """Return the path of a program, the name of a builtin, or "" if the command does not exist."""
    if name in shell.builtins:
        return name
    try:
        path = shell.variables.get("PATH", PATH)
        return shell.process.container.find_program(name, path, shell.folder)[0]
    except OSError:
        return ""


async def _where(call: Invocation, names: list[str]) -> int:
    status = 0
    for name in names:
        if place := _place(call.shell, name):
            await call.out(f"{place}\n")
        else:
            status = NOT_FOUND
    return status


async def _type(call: Invocation) -> int:
    status = 0
    for name in call.arguments:
        if place := _place(call.shell, name):
            what = "a shell builtin" if name in call.shell.builtins else place
            await call.out(f"{name} is {what}\n")
        else:
            await call.out(f"{name}: not found\n")
            status = NOT_FOUND
    return status


async def _wait(call: Invocation) -> int:
    wanted = [number(text) for text in call.arguments] or list(call.shell.jobs)
    status = 0
    for pid in wanted:
        task = call.shell.jobs.pop(pid, None)
        if task is None:
            raise ProgramError(f"wait: pid {pid} is not a child of this shell", NOT_FOUND)
        status = await task
    return status if call.arguments else 0


async def _jobs(call: Invocation) -> int:
    processes = call.shell.process.container.processes
    for place, pid in enumerate(call.shell.jobs, 1):
        if pid in processes:
            await call.out(f"[{place}]  Running                 {processes[pid].arguments[-1]}\n")
    return 0


async def _history(call: Invocation) -> int:
    for place, line in enumerate(call.shell.history, 1):
        await call.out(f"{place:5}  {line}\n")
    return 0


async def _source(call: Invocation) -> int:
    if not call.arguments:
        raise ProgramError(".: filename argument required", 2)
    path = call.arguments[0]
    data = call.shell.files.read(absolute(call.shell.folder, path))
    if len(data) > 64 * 1024:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return await _eval(call._replace(arguments=[data.decode(errors="surrogateescape")]))


BUILTINS: Mapping[str, Builtin] = {
    ":": _true,
    ".": _source,
    "source": _source,
    "break": _break,
    "cd": _cd,
    "command": _command,
    "continue": _continue,
    "eval": _eval,
    "exec": _exec,
    "exit": _exit,
    "export": _export,
    "history": _history,
    "jobs": _jobs,
    "logout": _exit,
    "pwd": _pwd,
    "read": _read,
    "set": _set,
    "shift": _shift,
    "type": _type,
    "umask": _true,
    "trap": _true,
    "unset": _unset,
    "wait": _wait,
}
