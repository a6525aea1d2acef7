"""What the docs name is there, and their pictures are those that tests in a browser make."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "screenshots"
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_TEST = re.compile(r"::(\w+)")


def texts() -> Iterator[Path]:
    yield from (ROOT / "README.md", ROOT / "bench" / "README.md")
    yield from (ROOT / "docs").rglob("*.md")


def named() -> Iterator[tuple[Path, Path]]:
    """Each text with a file that it links to."""
    for text in texts():
        for link in _LINK.findall(text.read_text()):
            target = link.partition("#")[0]
            if target and ":" not in target:
                yield text, (text.parent / target).resolve()


def test_every_file_that_the_docs_name_is_there() -> None:
    missing = [f"{text.name}: {target}" for text, target in named() if not target.exists()]
    assert missing == []


def test_every_test_that_the_docs_name_is_there() -> None:
    tests = "\n".join(test.read_text() for test in (ROOT / "tests").rglob("test_*.py"))
    there = set(re.findall(r"^(?:async )?def (\w+)", tests, re.MULTILINE))
    told = [(text.name, name) for text in texts() for name in _TEST.findall(text.read_text())]
    assert told
    assert [f"{text}: {name}" for text, name in told if name not in there] == []


def test_every_picture_is_shown() -> None:
    shown = {target for _text, target in named()}
    assert [picture.name for picture in sorted(PICTURES.iterdir()) if picture not in shown] == []


def test_every_picture_is_one_that_is_made_again() -> None:
    """`make screenshots` would leave another as it is for ever."""
    tests = "\n".join(test.read_text() for test in (ROOT / "tests" / "browser").rglob("test_*.py"))
    made = set(re.findall(r'\.picture\("([\w-]+)"\)', tests))
    tasks = {re.sub(r"-(light|dark)-(en|zh)-\d+$", "", one.stem) for one in PICTURES.iterdir()}
    assert tasks == made
