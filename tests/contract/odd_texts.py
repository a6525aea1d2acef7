"""Texts that YAML could read differently than they were written."""

ODD = [
    "", " ", "\n", "\n\n", " a", "a ", "a\n", "a\n\n", "  a\n b\n", "\ta", "a\tb\n", "a\r\nb", "\r",
    "#a", "a #b", "a: b", "- a", "? a", "!a", "!!str a", "&a", "*a", "%a", "@a", "`a", "|", ">", "'", '"',
    "\\", "{a", "[a", "---", "...", "<<", "=", "~", "null", "NULL", "yes", "y", "on", "OFF", "true", "1",
    "01", "0o7", "0x1f", "0b1", "1_0", "1e3", ".5e3", "1.", ".inf", "-.INF", ".NaN", "1:30", "2026-01-01",
    "2026-01-01T00:00:00Z", "9" * 30, "é", "中文", "\u202eabc", "\u2028", "\x85", "\ufeff", "\U0001f600",
    "\x7f", "a" * 3000,
]  # fmt: skip
