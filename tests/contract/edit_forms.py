"""The form of the edit page."""

import re
from dataclasses import dataclass, replace
from html import unescape
from typing import Any

import yaml


@dataclass(frozen=True)
class Form:
    """The HTML of an edit page and the fields that its form submits."""

    status: int
    html: str
    fields: dict[str, str]

    @property
    def text(self) -> str:
        return self.fields["text"]

    @property
    def manifest(self) -> Any:
        return yaml.safe_load(self.text)

    @property
    def changed(self) -> list[str]:
        """Return the changed lines of the diff, as `-old` and `+new`."""
        found = re.findall(r'data-change="([+-])".*?<(?:ins|del)>(.*?)</', self.html)
        return [sign + unescape(line).strip() for sign, line in found]

    @property
    def problems(self) -> list[tuple[int, str]]:
        found = re.findall(r'data-line="(\d+)".*?data-problem>(.*?)</span>', self.html, re.DOTALL)
        return [(int(line), unescape(text)) for line, text in found]

    @property
    def radios(self) -> list[str]:
        return list(dict.fromkeys(re.findall(r'type="radio" name="([^"]+)"', self.html)))

    def with_text(self, text: str) -> "Form":
        return replace(self, fields={**self.fields, "text": text})

    def changing(self, old: str, new: str) -> "Form":
        assert old in self.text, self.text
        return self.with_text(self.text.replace(old, new))


def form_of(status: int, html: str) -> Form:
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', html)
    fields = {name: unescape(value) for name, value in hidden}
    area = re.search(r"<textarea[^>]*>(.*?)</textarea>", html, re.DOTALL)
    if area:
        fields["text"] = unescape(area[1]).removeprefix("\n")
    return Form(status, html, fields)
