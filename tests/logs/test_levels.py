"""Detection of log levels."""

import pytest

from console.logs.levels import field_of, json_of, level_of


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ('{"level":"error","msg":"x"}', "error"),
        ('{"severity":"WARNING"}', "warn"),
        ('{"level":50,"msg":"pino"}', "error"),
        ('{"level":30}', "info"),
        ('{"level":true}', ""),
        ('{"level":["error"]}', ""),
        ('{"msg":"level=error"}', ""),
        ("time=x level=warn msg=y", "warn"),
        ('ts=1 lvl="debug" x', "debug"),
        ('E1124 10:12:38.000000       1 x.go:1] "y"', "error"),
        ('I1124 10:12:38.000000       1 x.go:1] "y"', "info"),
        ("2026-11-24 10:12:38.000 UTC [27] LOG:  checkpoint", "info"),
        ("2026-11-24 10:12:38,000 WARNING scorer: x", "warn"),
        ("[ERROR] plugin/errors: 2", "error"),
        ("<Debug> executeQuery", "debug"),
        ("panic: runtime error", "error"),
        ("FATAL: too many clients", "error"),
        ("an error like any other", ""),
        ("GET /errors 200", ""),
        ("level=loud", ""),
        ("", ""),
        ("{", ""),
        ('{"level":"error"', ""),
    ],
)
def test_level_is_detected_in_many_formats(line: str, level: str) -> None:
    assert level_of(line) == level


def test_json_fields_are_found_by_path() -> None:
    found = json_of('{"status":502,"http":{"path":"/x"},"a.b":"c","ok":true,"list":[1]}')
    assert found is not None
    values = [field_of(found, name) for name in ("status", "http.path", "a.b", "ok", "list", "no")]
    assert values == ["502", "/x", "c", "true", None, None]


@pytest.mark.parametrize("line", ["[1]", '"x"', "{not json}", "{" * 5000 + "}" * 5000])
def test_line_that_is_no_json_object_has_no_fields(line: str) -> None:
    assert json_of(line) is None
