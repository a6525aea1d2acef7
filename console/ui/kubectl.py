"""Shell-safe kubectl commands to display and copy."""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from console.kube.gvr import GVR, Key

Json = Mapping[str, Any] | Sequence[Any]
_SHORT = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t"}


def kubectl(words: str, key: Key) -> str:
    """Return a kubectl command for an object, with `-n` if it is namespaced."""
    place = f" -n {quoted(key.namespace)}" if key.namespace else ""
    return f"kubectl {words}{place}"


def kubectl_patch(gvr: GVR, key: Key, body: Json, sort: str = "merge") -> str:
    """Return the command for a merge patch, or for another patch type `sort`."""
    words = f"patch {gvr.qualified} {quoted(key.name)} --type={sort} -p {_json(body)}"
    return kubectl(words, key)


def kubectl_create(body: Mapping[str, Any], key: Key) -> str:
    """Return the command that creates an object in the namespace of `key`."""
    return f"printf %s {_json(body)} | {kubectl('create -f -', key)}"


def quoted(word: str) -> str:
    """Quote `word` for a shell.

    Non-printable characters are escaped as `$'a\\nb'`, so that the copied command is exact
    (POSIX.1-2024, 2.2.4; also supported by older bash, zsh and ksh).
    """
    if word.isprintable():
        return shlex.quote(word)
    return f"$'{''.join(map(_seen, word))}'"


def _json(body: Json) -> str:
    return quoted(json.dumps(body, ensure_ascii=False, separators=(",", ":")))


def _seen(character: str) -> str:
    if character in _SHORT or character.isprintable():
        return _SHORT.get(character, character)
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
