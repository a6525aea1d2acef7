"""Lines of kubectl for a shell, which people read on a page and copy."""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from console.kube.gvr import GVR, Key

Json = Mapping[str, Any] | Sequence[Any]
_SHORT = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t"}


def kubectl(words: str, key: Key) -> str:
    """A line about an object of a project, or of none."""
    place = f" -n {quoted(key.namespace)}" if key.namespace else ""
    return f"kubectl {words}{place}"


def kubectl_patch(gvr: GVR, key: Key, body: Json, sort: str = "merge") -> str:
    """The line of a merge patch, or of one of another `sort` that kubectl knows."""
    words = f"patch {gvr.qualified} {quoted(key.name)} --type={sort} -p {_json(body)}"
    return kubectl(words, key)


def kubectl_create(body: Mapping[str, Any], key: Key) -> str:
    """The line that makes an object in the project of `key`."""
    return f"printf %s {_json(body)} | {kubectl('create -f -', key)}"


def quoted(word: str) -> str:
    """As one word of a line. What cannot be seen is written as its code, `$'a\\nb'`, so that what is
    copied is what was meant (POSIX.1-2024, 2.2.4; bash, zsh and ksh have always had it)."""
    if word.isprintable():
        return shlex.quote(word)
    return f"$'{''.join(map(_seen, word))}'"


def _json(body: Json) -> str:
    return quoted(json.dumps(body, ensure_ascii=False, separators=(",", ":")))


def _seen(character: str) -> str:
    if character in _SHORT or character.isprintable():
        return _SHORT.get(character, character)
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
