"""Serialization of objects as YAML like kubectl, with escaped invisible characters.

YAML parsers read each escape as the original character.
"""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from console.ui.kind import ResourceKind
from console.ui.yamlreading import parse_scalar

_LONGEST_LINE = 1_000_000
_FIRST = ("apiVersion", "kind", "metadata")


class _Dumper(yaml.CSafeDumper):
    """Dumper that writes multi-line texts as blocks and texts with invisible characters in quotes."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent(dumper: yaml.CSafeDumper, value: str) -> yaml.ScalarNode:
    lines = "|" if "\n" in value else None
    style = lines if _plain(value) and _is_text(value) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _represent)


def _is_text(value: str) -> bool:
    """Return True if kubectl reads the unquoted value as text. PyYAML quotes fewer values than
    kubectl requires.
    """
    try:
        return isinstance(parse_scalar(value), str)
    except ValueError:
        return False


def yaml_text(kind: ResourceKind, manifest: Mapping[str, Any]) -> str:
    """Return the manifest as YAML, including the type fields that list responses omit. Raise
    `RecursionError`.
    """
    whole = {"apiVersion": kind.gvr.group_version, "kind": kind.api_kind, **manifest}
    ordered = {key: whole[key] for key in (*_FIRST, *whole) if key in whole}
    return plain_yaml(ordered)


def plain_yaml(value: Any) -> str:
    """Return any JSON value as YAML. Raise `RecursionError`."""
    text = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_LONGEST_LINE
    )
    # Remaining invisible characters are inside double quotes, where YAML allows escapes.
    return _INVISIBLE.sub(_escape, text) if not _plain(text) else text


def _plain(text: str) -> bool:
    return text.isprintable() or text.replace("\n", "").isprintable()


#: Candidates for `str.isprintable`: non-ASCII characters outside common letter ranges.
_INVISIBLE = re.compile(r"[^\n\x20-\x7e\u00a1-\u00ac\u00ae-\u036f\u4e00-\u9fff]")


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
