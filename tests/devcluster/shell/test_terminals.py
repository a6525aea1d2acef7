"""Interactive shells in a terminal: keys, line editing and signals."""

from tests.devcluster.shell.container import Screen, sample_container

PROMPT = "root@web-1:/# "


async def a_shell(*words: str) -> Screen:
    screen = Screen(sample_container())
    screen.terminal.resize(100, 30)
    screen.start(*(words or ("bash",)))
    return screen


async def test_interactive_shell_runs_a_command_and_exits_with_its_code() -> None:
    screen = await a_shell()
    await screen.shows(PROMPT)
    await screen.keys("echo hi\r")
    assert await screen.shows(PROMPT) == f"echo hi\r\nhi\r\n{PROMPT}"
    await screen.keys("exit 3\r")
    assert await screen.ends() == 3


async def test_startup_scripts_of_web_consoles_open_a_shell() -> None:
    exists = "[ -x /usr/bin/script ] && /usr/bin/script -q -c /bin/bash /dev/null"
    for script in (
        f"TERM=xterm; export TERM; [ -x /bin/bash ] && ({exists} || exec /bin/bash) || exec /bin/sh",
        "exec $(command -v bash || command -v ash || command -v sh)",
        "(bash || ash || sh)",
        "if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi",
    ):
        screen = await a_shell("sh", "-c", script)
        await screen.shows(PROMPT)
        await screen.keys("read -p 'who? ' x && ls --color=auto -d /etc && exit\r")
        await screen.shows("\r\nwho? ")
        await screen.keys("me\r")
        await screen.shows("/etc")
        assert await screen.ends() == 0


async def test_line_editing_keys_and_history_work() -> None:
    screen = await a_shell()
    await screen.shows(PROMPT)
    keys = {
        "ecoh\x7f\x7fho a\r": "a",
        "junk\x15echo b\r": "b",
        "echo x y\x17c\r": "x c",
        "cho d\x01e\x05e\r": "de",
        "echo ac\x1b[Db\r": "abc",
        "echo 漢字\x7f\r": "漢",
        "echo abc\x1b[D\x1b[D\x0b\r": "a",
        "echo abc\x1b[D\x1b[D\x1b[D\x1b[3~\r": "bc",
        "\x1b[A\r": "bc",
        "\x1b[A\x1b[A\x1b[B\x7fd\r": "bd",
    }
    for typed, shown in keys.items():
        await screen.keys(typed)
        assert f"\r\n{shown}\r\n" in await screen.shows(f"\r\n{PROMPT}"), typed


async def test_incomplete_commands_show_a_continuation_prompt() -> None:
    screen = await a_shell()
    await screen.shows(PROMPT)
    await screen.keys('echo "a\r')
    await screen.shows("> ")
    await screen.keys('b"\r')
    assert "a\r\nb\r\n" in await screen.shows(PROMPT)


async def test_ctrl_c_interrupts_the_running_command() -> None:
    screen = await a_shell()
    for command in ("sleep 1000", "while :; do :; done", "cat", "yes > /dev/null"):
        await screen.shows(PROMPT)
        await screen.keys(f"{command}\r")
        await screen.shows("\r\n")
        await screen.keys("\x03")
        assert await screen.shows("\r\n") == "^C\r\n"
        await screen.shows(PROMPT)
        await screen.keys("echo $?\r")
        await screen.shows("\r\n130\r\n")
    await screen.shows(PROMPT)
    assert set(screen.container.processes) == {1, 2}


async def test_ctrl_c_discards_the_typed_line() -> None:
    screen = await a_shell()
    await screen.shows(PROMPT)
    # As on Linux, the rest of the input that arrives with the signal is discarded.
    await screen.keys("exit 5\x03\r")
    assert await screen.shows(PROMPT) == f"exit 5^C\r\n{PROMPT}"
    await screen.keys("\x04")
    assert await screen.ends() == 130


async def test_ctrl_c_and_ctrl_d_apply_to_the_innermost_shell() -> None:
    screen = await a_shell()
    await screen.shows(PROMPT)
    await screen.keys("sh\r")
    await screen.shows("/ # ")
    await screen.keys("sleep 100\r")
    await screen.shows("\r\n")
    await screen.keys("\x03")
    await screen.shows("/ # ")
    await screen.keys("\x04")
    await screen.shows(PROMPT)


async def test_programs_read_lines_from_the_terminal() -> None:
    screen = await a_shell()
    await screen.shows(PROMPT)
    await screen.keys("cat\r")
    await screen.keys("onn\x7fe\r")
    await screen.shows("one\r\n")
    await screen.keys("tw\x04")
    await screen.shows("tw")
    await screen.keys("\x04")
    await screen.shows(PROMPT)
    await screen.keys("read x\rword\r")
    await screen.shows(PROMPT)
    await screen.keys("echo $x\r")
    await screen.shows("\r\nword\r\n")


async def test_programs_use_the_current_terminal_size() -> None:
    screen = await a_shell()
    await screen.shows(PROMPT)
    await screen.keys("stty size; echo $COLUMNS; tty; [ -t 0 ] && echo there\r")
    assert "30 100\r\n100\r\n/dev/pts/0\r\nthere\r\n" in await screen.shows(PROMPT)
    screen.terminal.resize(44, 10)
    await screen.keys("stty size\r")
    assert "10 44\r\n" in await screen.shows(PROMPT)
    await screen.keys("echo $COLUMNS; cd /etc; ls\r")
    assert "44\r\nhosts     settings\r\n" in await screen.shows("/etc# ")


async def test_ctrl_c_stops_a_program_without_a_shell() -> None:
    screen = await a_shell("sleep", "1000")
    while 2 not in screen.container.processes:
        await screen.keys("")
        await screen.terminal.write(b"")
    await screen.keys("\x03")
    assert await screen.ends() == 130
