"""Shell quoting of arguments in kubectl commands."""

import subprocess

import pytest

from console.ui.core.action_texts import quoted

pytestmark = pytest.mark.programs


@pytest.mark.parametrize(
    "word",
    [
        "web",
        "",
        "two words",
        "it's",
        "$HOME `id` $(id) !! \\",
        "-n",
        "容器 $x",
        "a\nb",
        "a\tb\\n'\"",
        "\u202eevil\u2066",
        "\x1b[31m\x07 2",
        "\xad\x7f\x85",
    ],
)
def test_shell_reads_the_quoted_word_back(word: str) -> None:
    line = quoted(word)
    assert line.isprintable()
    done = subprocess.run(
        ["bash", "-c", f"printf %s {line}"], capture_output=True, timeout=10, check=True
    )
    assert done.stdout.decode() == word
