"""Shell scripts in simulated containers."""

import asyncio
import time

import pytest

from devcluster.shell.files import MOST_BYTES, File
from tests.devcluster.shell.container import run, run_words, sample_container

_BOUNDS = (
    "out of memory",
    "No space left on device",
    "too deeply nested",
    "Resource temporarily unavailable",
    "arithmetic syntax error",
    "unexpected end of file",
)


@pytest.mark.parametrize(
    ("script", "output"),
    [
        ("echo hi; echo there", "hi\nthere\n"),
        ('echo $A; echo "$A  b" \'$A\' a\\ b', "x y\nx y  b $A a b\n"),
        ("a=1 b=2; echo $a${b}c $(echo $((a + b * 3)))", "12c 7\n"),
        ("echo ${A%y}z ${A#x} ${#A} ${B:-none} ${B-} ${A:+set}", "x z y 3 none set\n"),
        ("false; echo $?; true; echo $?", "1\n0\n"),
        ("a=$(exit 3); echo $?", "3\n"),
        ("true && echo yes || echo no; false && echo yes || echo no", "yes\nno\n"),
        ("! true; echo $?", "1\n"),
        ("for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done", "1\n3\n"),
        ("i=0; while true; do i=$((i+1)); [ $i -gt 3 ] && break; echo $i; done", "1\n2\n3\n"),
        ("until test -e /tmp/x; do touch /tmp/x; echo made; done", "made\n"),
        ("if [ -x /bin/bash ]; then echo bash; elif true; then echo b; else echo c; fi", "bash\n"),
        ("(cd /etc; a=1; pwd; exit 2); echo $? $a $PWD", "/etc\n2 /\n"),
        ("{ echo a; echo b; } | wc -l", "2\n"),
        ("echo one two > /tmp/f; cat < /tmp/f | tr a-z A-Z; echo 3 >> /tmp/f; wc -l < /tmp/f",
         "ONE TWO\n2\n"),
        ("ls /nope > /dev/null 2>&1; echo $?", "1\n"),
        ("cd /tmp; touch b a .h; echo *; echo x*; ls -a", "a b\nx*\n.\n..\n.h\na\nb\n"),
        ("cat /etc/settings/tier; ls /etc/settings/more", "prod\nregion\n"),
        ("seq 3 | while read x; do echo got $x; done", "got 1\ngot 2\ngot 3\n"),
        ("sleep 100 & kill $!; wait $!; echo $?", "143\n"),
        ("set -- a 'b c'; for w in \"$@\"; do echo $w; done; shift; echo $# $1", "a\nb c\n1 b c\n"),
        ("export C=1; env | grep ^C=; unset C; env | grep -c ^C=", "C=1\n0\n"),
        ("exec $(command -v bash || command -v sh) -c 'echo $0'; echo never", "bash\n"),
        ("eval 'a=5; echo $a'", "5\n"),
        ("yes | head -n 2", "y\ny\n"),
        ("cat /dev/zero | head -c 3 | wc -c", "3\n"),
        ("echo a,b,c | cut -d, -f2-; printf '%03d|%s\\n' 7 x", "b,c\n007|x\n"),
        ("printf 'b\\na\\nb\\n' | sort | uniq -c", "      1 a\n      2 b\n"),
        ("printf '10\\n9\\n' | sort -n | tail -1", "10\n"),
        ("grep -n '^1.*l[a-z]*t$' /etc/hosts; grep -ci WEB /etc/hosts", "1:127.0.0.1\tlocalhost\n1\n"),
        ("hostname; whoami; hostname -i; uname; id -u", "web-1\nroot\n10.0.0.7\nLinux\n0\n"),
        ("timeout 0.05 sleep 9; echo $?", "124\n"),
        ("mkdir -p /tmp/d/e; echo 1 > /tmp/d/e/f; cp -r /tmp/d /tmp/g; mv /tmp/g/e/f /tmp/h; "
         "cat /tmp/h; rm -r /tmp/d; ls /tmp", "1\ng\nh\n"),
        ("ps", "PID   USER     TIME  COMMAND\n    1 root      0:00 /app --serve\n"
         "    2 root      0:00 sh -c ps\n    3 root      0:00 ps\n"),
        ("echo 'a b' | { read x y; echo $y; }; cat <<< word", "b\nword\n"),
        ("test -t 0; echo $?; tty", "1\nnot a tty\n"),
    ],
)  # fmt: skip
async def test_script_writes_the_expected_output(script: str, output: str) -> None:
    _, found, complaints = await run(sample_container(), script)
    assert (found, complaints) == (output, "")


@pytest.mark.parametrize(
    ("script", "code", "complaint"),
    [
        ("nope", 127, "sh: nope: not found\n"),
        ("bash -c nope", 127, "bash: nope: command not found\n"),
        ("/etc/hosts", 126, "sh: /etc/hosts: Permission denied\n"),
        ("cat /nope", 1, "cat: /nope: No such file or directory\n"),
        ("cat /tmp", 1, "cat: /tmp: Is a directory\n"),
        ("cd /nope", 2, "sh: cd: can't cd to /nope: No such file or directory\n"),
        ("echo x > /etc/settings/tier", 1, "sh: /etc/settings/tier: Read-only file system\n"),
        ("rm /etc/settings/tier", 1, "rm: /etc/settings/tier: Read-only file system\n"),
        ("rm -r /etc/settings", 1, "rm: /etc/settings/tier: Read-only file system\n"),
        ("echo x > /bin/sh", 1, "sh: /bin/sh: Permission denied\n"),
        ("ls -Q", 2, "ls: option -Q not recognized\n"),
        ("kill 99", 1, "kill: can't kill pid 99: No such process\n"),
        ('echo "a', 2, "sh: unterminated quoted string\n"),
        ("if true", 2, "sh: unexpected end of file\n"),
        ("echo )", 2, 'sh: syntax error: unexpected ")"\n'),
        ("cat << EOF", 2, "sh: here-documents are not supported\n"),
        ("f() { :; }", 2, 'sh: syntax error: unexpected "("\n'),
        ("echo $((1 / 0))", 2, "sh: divide by zero\n"),
        ("echo ${NONE:?missing}", 1, "sh: NONE: missing\n"),
        ("grep '(a+)+' /etc/hosts", 1, ""),
        (
            "grep -E '(a+)+' /etc/hosts",
            2,
            "grep: groups and counts are not supported in patterns\n",
        ),
        ("set -e; false; echo never", 1, ""),
        ("exit 7", 7, ""),
    ],
)
async def test_script_errors_are_reported_with_message_and_exit_code(
    script: str, code: int, complaint: str
) -> None:
    assert await run(sample_container(), script) == (code, "", complaint)


async def test_shell_reads_commands_from_standard_input() -> None:
    commands = b"echo 1\nfor i in a b; do\necho $i\ndone\nhead -n 1\ndata\necho 2\nexit 4\necho 3\n"
    assert await run_words(sample_container(), "sh", stdin=commands) == (
        4,
        "1\na\nb\ndata\n2\n",
        "",
    )


@pytest.mark.parametrize(
    "script",
    [
        "a=x; while true; do a=$a$a; done",
        'a=\'eval "$a"\'; eval "$a"',
        'a=\'sh -c "$a"\'; export a; sh -c "$a"',
        "sort /dev/zero",
        "echo $(yes | head -c 200000)",
        "cd /root; touch $(seq 1900); echo" + " *" * 60,
        "x=$(cat /dev/zero)",
        "i=0; while true; do i=$((i+1)); touch /tmp/$i || break; done",
        "cat /dev/zero > /root/z",
        "(" * 2000 + ")" * 2000,
        "echo " + "$((" * 2000,
        "echo " + '"$(' * 2000,
        "echo $((" + "(" * 400 + "1" + ")" * 400 + "))",
        "i=0; while [ $i -lt 200 ]; do sleep 100 & i=$((i+1)); done",
    ],
)
async def test_scripts_cannot_exceed_memory_process_and_disk_limits(script: str) -> None:
    container = sample_container()
    _, _, complaint = await run(container, script)
    assert any(word in complaint for word in _BOUNDS), complaint[-300:]
    assert len(container.processes) <= 100
    files = container.files
    held = sum(len(files.read(p)) for p, n in files.walk("/root") if isinstance(n, File) and n.data)
    assert held <= MOST_BYTES


async def test_scripts_in_a_loop_do_not_block_the_event_loop() -> None:
    grep = "while true; do cat /root/line | grep 'a*a*a*a*a*a*a*a*a*b'; done"
    container = sample_container()
    container.files.write("/root/line", b"a" * 20_000)
    trim = "a=$(head -c 1000 /root/line); while :; do b=${a%%*a*a*a*a*a*b}; done"
    lines = "seq 100000 | head -c 250000 > /root/n; while :; do sort -n /root/n | wc -l; done"
    typed = "{ echo 'echo \"'; yes; } | sh"
    scripts = (
        "while :; do :; done",
        "yes > /dev/null",
        "yes | tr y x | wc",
        grep,
        trim,
        lines,
        typed,
    )
    for script in scripts:
        task = asyncio.create_task(run(container, script))
        longest, start = 0.0, time.monotonic()
        while time.monotonic() < start + 0.5:
            # Measure the thread's CPU time, because other processes may delay the wall clock.
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)
        task.cancel()
        assert longest < 1.0, script
