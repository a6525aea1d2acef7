"""Neutralization of deceptive characters in text from users, HTML ids, and parts of generated
names.

Templates escape HTML. This module handles characters that survive escaping: control characters,
and invisible and bidirectional characters that make a name look like another one.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

_SEAM = re.compile(r"(?<=[\u4e00-\u9fff])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[\u4e00-\u9fff])")


def escape_invisible(text: str) -> str:
    """Replace each non-printable character with its code point, for example `⟨U+202E⟩`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"⟨U+{ord(c):04X}⟩" for c in text)


def escape_invisible_lines(text: str) -> str:
    """Like `escape_invisible`, but keep line breaks and tabs."""
    lines = (line.split("\t") for line in text.split("\n"))
    return "\n".join("\t".join(escape_invisible(part) for part in line) for line in lines)


def has_no_invisible(text: str) -> bool:
    """Return True if a multi-line text contains no deceptive characters. Wide and no-break spaces
    are accepted.
    """
    plain = text.replace("\N{IDEOGRAPHIC SPACE}", " ").replace("\N{NO-BREAK SPACE}", " ")
    return escape_invisible_lines(plain) == plain


def space_mixed_scripts(text: str) -> str:
    """Insert a space between Chinese characters and Latin letters or digits.

    For sentences that are assembled from parts in unknown scripts
    (https://www.w3.org/TR/clreq/#mixed_text_composition_in_horizontal_writing_mode).
    """
    return _SEAM.sub(" ", text)


def dom_id(prefix: str, key: str) -> str:
    """Return a unique HTML id for a kind's URL segment and an object's key.

    ASCII letters, digits and `-` are kept. Every other byte becomes `_` and two hex digits, so
    that the id needs no escaping in a CSS selector.
    """
    return f"{_escape(prefix)}-{_escape(key)}"


def _escape(text: str) -> str:
    return "".join(_escape_byte(byte) for byte in text.encode())


def _escape_byte(byte: int) -> str:
    kept = byte < 0x80 and (chr(byte).isalnum() or byte == ord("-"))
    return chr(byte) if kept else f"_{byte:02x}"


#: Suffix that kube-apiserver and controllers append: five characters of this alphabet
#: (k8s.io/apimachinery/pkg/util/rand).
_RANDOM = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}\Z")
_ORDINAL = re.compile(r"-[0-9]{1,10}\Z")


class SplitName(NamedTuple):
    stem: str
    suffix: str


def split_name(name: str, owner: str, labels: Mapping[str, str]) -> SplitName:
    """Split an object's name.

    `owner` is the controller as `Kind/name`, or "". The suffix of a Deployment's pod is the pod
    template hash and five random characters. The suffix of a StatefulSet's pod is its ordinal.
    Pods of a Job, DaemonSet or standalone ReplicaSet have five random characters.
    """
    owner = owner.rpartition("/")[2]
    if not owner or not name.startswith(f"{owner}-"):
        return SplitName(name, "")
    template = labels.get("pod-template-hash", "")
    if template and owner.endswith(f"-{template}"):
        return _cut(name, len(owner) - len(template) - 1)
    added = name[len(owner) :]
    if _ORDINAL.match(added) or _RANDOM.match(added):
        return _cut(name, len(owner))
    return SplitName(name, "")


def _cut(name: str, at: int) -> SplitName:
    return SplitName(name[:at], name[at:])
