"""Secret settings from variables and from files."""

from pathlib import Path

import pytest

from console.environment import secret


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file that the variable names. It does not exist yet."""
    path = tmp_path / "key"
    monkeypatch.delenv("SECRET_KEY", raising=False)
    monkeypatch.setenv("SECRET_KEY_FILE", str(path))
    return path


def test_the_variable_is_used_without_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECRET_KEY_FILE", raising=False)
    monkeypatch.setenv("SECRET_KEY", " a b ")
    assert secret("SECRET_KEY") == " a b "
    monkeypatch.delenv("SECRET_KEY")
    assert secret("SECRET_KEY") == ""


def test_the_line_end_of_a_file_is_not_part_of_the_value(file: Path) -> None:
    file.write_text("0123456789abcdef\n")
    assert secret("SECRET_KEY") == "0123456789abcdef"


def test_a_variable_beside_a_file_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("one")
    monkeypatch.setenv("SECRET_KEY", "other")
    with pytest.raises(SystemExit, match="SECRET_KEY or SECRET_KEY_FILE"):
        secret("SECRET_KEY")


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_an_unusable_file_is_reported_with_its_path(file: Path, content: bytes | None) -> None:
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SystemExit, match="SECRET_KEY_FILE"):
        secret("SECRET_KEY")
