"""The Chinese catalog: completeness, compilation and typography."""

import gettext
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.controlplane.plugin import report_skipped
from tests.support.packages import PACKAGES
from tests.support.translations import HAN, MESSAGES, SAME, Message, _messages
from tests.unit.templates.files import ALL, LOCALE, ROOT, source

PLACEHOLDER = re.compile(r"%\(\w+\)s|{\w+}")


#: Template parts that are not text, the longest first.
_MARKUP = (
    r"{% comment %}.*?{% endcomment %}|{% blocktranslate.*?{% endblocktranslate %}",
    r"{%.*?%}|{{.*?}}",
    # Commands are literal input.
    r'<pre class="code".*?</pre>',
    r"<script\b.*?</script>|&\w+;",
)
#: Attributes that are displayed or read by screen readers.
_SHOWN = re.compile(r'\s(?:alt|aria-label|label|placeholder|title)="([^"]*)"')


def test_catalog_is_loaded() -> None:
    assert len(MESSAGES) > 150


@pytest.mark.programs
def test_catalog_contains_exactly_the_strings_of_the_code(tmp_path: Path) -> None:
    """Obsolete entries are an error unless the text still occurs literally."""
    if shutil.which("xgettext") is None:
        report_skipped(
            "strings that were never translated", "xgettext is missing (Debian's gettext)"
        )
        pytest.skip("xgettext is missing")
    for package in (*PACKAGES, "templates"):
        shutil.copytree(ROOT / package, tmp_path / package)
    (tmp_path / "locale" / "zh_Hans" / "LC_MESSAGES").mkdir(parents=True)
    command = [sys.executable, "-m", "django", "makemessages", "--all", "--no-location"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    fresh = tmp_path / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
    known = {(m.context, m.id) for m in MESSAGES}
    said = {(m.context, m.id) for m in _messages(fresh)}
    missing, unsaid = (
        [msgid for _context, msgid in sorted(a - b)] for a, b in ((said, known), (known, said))
    )
    assert not missing, "\n".join(["run `make messages` and translate", *missing])
    assert not unsaid, "\n".join(["mark it, or run `make messages`", *unsaid])


def test_templates_contain_no_untranslated_text() -> None:
    wrong = []
    for name in ALL:
        text = source(name)
        for markup in _MARKUP:
            text = re.sub(markup, "\0", text, flags=re.DOTALL)
        shown = "\0".join([*_SHOWN.findall(text), re.sub(r"<[^>]*>", "\0", text)])
        words = {word.strip(" …\n") for word in shown.split("\0")}
        # Excludes attributes filled in by a block, and labels.
        said = [word for word in words - SAME if not re.match(r"[\w-]+!?=", word)]
        wrong += [f"{name}: {word}" for word in said if re.search("[A-Za-z]{2}", word)]
    assert not wrong, "\n".join(wrong)


def test_template_arguments_contain_no_untranslated_text() -> None:
    wrong = []
    for name in ALL:
        for tag in re.findall(r"{%\s*(?:include|part|with|firstof)\b.*?%}|{{.*?}}", source(name)):
            words = re.findall(r'(?<!_\()"([A-Z][a-z][^"]*)"', tag)
            # Each language is named in its own language.
            wrong += [f"{name}: {word}" for word in words if word not in {*SAME, "English"}]
    assert not wrong, "\n".join(wrong)


def test_no_entry_is_missing_or_fuzzy() -> None:
    wrong = [m.id for m in MESSAGES if not m.text or m.fuzzy]
    assert not wrong, "\n".join(wrong)


def test_compiled_catalog_is_up_to_date() -> None:
    with (LOCALE / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    stale = [m.id for m in MESSAGES if _compiled(m, compiled) != m.text]
    assert not stale, "\n".join(["run `make messages`", *stale])


def _compiled(message: Message, catalogue: gettext.NullTranslations) -> str:
    context, one, several = message.context, message.id, message.source
    if not message.counted:
        return catalogue.pgettext(context, one) if context else catalogue.gettext(one)
    if context:
        return catalogue.npgettext(context, one, several, 1)
    return catalogue.ngettext(one, several, 1)


def test_every_placeholder_is_kept() -> None:
    wrong = [
        f"{m.id!r}: {m.text!r}"
        for m in MESSAGES
        if sorted(PLACEHOLDER.findall(m.text)) != sorted(PLACEHOLDER.findall(m.source))
    ]
    assert not wrong, "\n".join(wrong)


def test_chinese_typography_rules_are_followed() -> None:
    rules = {
        "a space between Han and Latin": rf"{HAN}[A-Za-z0-9]|[A-Za-z0-9]{HAN}",
        "full-width punctuation": rf"{HAN}\s?[,;:?!()]|\.$",
        "no pronouns": "你|您",
    }
    wrong = [
        f"{rule}: {m.text!r}"
        for m in MESSAGES
        for rule, broken in rules.items()
        if re.search(broken, PLACEHOLDER.sub("", m.text))
    ]
    assert not wrong, "\n".join(wrong)
