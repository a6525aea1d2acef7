"""Texts of action pages: lines of information, warnings, and kubectl commands.

Lines and warnings are derived from the object alone. Statements about consequences describe
Kubernetes' own behavior.
"""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.kube.group_kind import without_group
from console.kube.gvr import GVR, Key
from console.kube.status import Status
from console.ui.core.text import escape_invisible
from console.ui.core.words import reason_text, translate

Fact = tuple[str | Promise, str | Promise]


def status_fact(status: Status) -> Fact:
    return (_("Status"), f"{translate(status.word)} {reason_text(status)}".strip())


def owner_fact(owner: str) -> Fact:
    """Return the line about the controller that recreates the object. `owner` is `Kind.group/name`,
    or "".
    """
    if not owner:
        return (_("Managed by"), _("no controller, so the object will not be recreated"))
    kind, _slash, name = escape_invisible(without_group(owner)).partition("/")
    text = _("%(kind)s %(name)s, which will create a replacement") % {"kind": kind, "name": name}
    return (_("Managed by"), text)


def owner_notes(owner: str) -> list[str]:
    """Return the warning that the controller may revert changes of its object."""
    text = _("This object is managed by %(owner)s, which may revert your changes.")
    return [text % {"owner": escape_invisible(without_group(owner))}] if owner else []


def text_fact(label: str, text: str | Iterable[str]) -> Fact:
    """Return a line with a text of the object, or with a list of texts."""
    text = text if isinstance(text, str) else ", ".join(text)
    return (label, escape_invisible(text) or _("none"))


def after_deletion_fact(text: str) -> Fact:
    """Return the line about the consequences of the deletion."""
    return (_("After deletion"), text)


def ready_fact(ready: int, desired: int) -> Fact:
    words = {"ready": f"{ready:,}", "desired": f"{desired:,}"}
    return (_("Replicas"), _("%(ready)s of %(desired)s ready") % words)


def pods_fact() -> Fact:
    """Return the line for owners of pods. Deletion through kube-apiserver deletes the pods in the
    background.
    """
    return (_("Pods"), _("will also be deleted"))


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
