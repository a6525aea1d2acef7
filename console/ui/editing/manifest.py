"""Manifests as editable text.

The text contains neither the status nor fields that only the server sets. Values that a kind
masks are replaced by a placeholder. An unchanged placeholder keeps the object's value and is
never written.

The original text of a form has marks instead of placeholders. A mark is a placeholder followed by a
keyed digest of the value that it stands for, so that a later change of the value is detected.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import yaml
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from yaml.reader import ReaderError

from console.kube.apply import SERVER_SET, Manifest, writable_content
from console.kube.gvr import Key
from console.kube.merging import json_equal
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import MASK, mask_values
from console.ui.editing.yaml_text import Document, Steps, read_document, yaml_text
from console.ui.wizard.paths import path_text

#: Maximum characters of a text. etcd accepts at most 1.5 MiB per object, and YAML adds indentation.
#: A form contains two texts (`console.web.server.MAX_BODY`).
MOST = 2 * 2**20
_SALT = "console.ui.editing.manifest"
_MARK = re.compile(f"{MASK}[0-9a-f]{{32}}")
#: Maximum number of reported problems, because each one is located in the text.
MOST_PROBLEMS = 100


@dataclass(frozen=True, slots=True)
class ManifestProblem:
    """A problem in a text. `line` and `column` start at 1; 0 means no position. `path` is the field as
    kube-apiserver writes it, also if the field is missing.
    """

    text: str
    line: int = 0
    column: int = 0
    severity: Literal["error", "warn"] = "error"
    path: str = ""


class InvalidManifest(Exception):
    """The text is not a valid manifest of the expected object, or can't be used now. `problems` is a
    text for a problem without a position. `status` is the status of the response.
    """

    def __init__(self, problems: Sequence[ManifestProblem] | str, status: int = 400) -> None:
        super().__init__()
        self.problems = [ManifestProblem(problems)] if isinstance(problems, str) else problems
        self.status = status


@dataclass(frozen=True, slots=True)
class ParsedManifest:
    """A parsed text. `manifest` is its content, including masks. `ignored` are fields that have no
    effect.
    """

    document: Document
    manifest: Manifest
    ignored: Sequence[ManifestProblem] = ()

    def problem(self, text: str, steps: Steps = (), path: str = "") -> ManifestProblem:
        """Return a problem at a field. `path` names a field below `steps` that is missing."""
        place = self.document.place(steps)
        return ManifestProblem(text, place.line, place.column, path=path or path_text(steps))

    def ignored_field(self, *steps: str) -> ManifestProblem:
        """Return the warning for a field that only the server sets."""
        place, words = self.document.place(steps), {"field": ".".join(steps)}
        text = _("The cluster sets %(field)s. The value here is ignored.") % words
        return ManifestProblem(text, place.line, place.column, "warn")


def editable(kind: ResourceKind, live: Mapping[str, Any]) -> Manifest:
    """Return the editable part of an object."""
    content = writable_content(live)
    return mask_values(deepcopy(content), kind.masked) if kind.masked else content


def marked(kind: ResourceKind, live: Mapping[str, Any]) -> Manifest:
    """Return the editable part of an object with marks. Raise `RecursionError` for deeply nested
    objects.

    Marks are equal if they stand for the same value at the same path of the same object. The key of
    the digest is derived from `SECRET_KEY`, so that a mark doesn't allow guesses of the value.
    """
    uid = (live.get("metadata") or {}).get("uid")

    def mark(hidden: Any, own: Any, path: tuple[str, ...]) -> Any:
        if isinstance(hidden, dict):
            return {
                name: mark(item, _at(own, name), (*path, name)) for name, item in hidden.items()
            }
        if hidden != MASK:
            return hidden
        content = json.dumps([uid, path, own], sort_keys=True)
        return f"{MASK}{salted_hmac(_SALT, content, algorithm='sha256').hexdigest()[:32]}"

    content = editable(kind, live)
    return mark(content, writable_content(live), ()) if kind.masked else content


def original_text(kind: ResourceKind, live: Mapping[str, Any]) -> str:
    """Return the editable part of an object as YAML with marks. Raise `RecursionError` for deeply
    nested objects.
    """
    return yaml_text(kind, marked(kind, live))


def with_marks(manifest: Any, base: Any) -> Any:
    """Return the manifest with unchanged placeholders replaced by the marks of the original."""
    if isinstance(manifest, dict) and isinstance(base, dict):
        return {name: with_marks(item, base.get(name)) for name, item in manifest.items()}
    stands_for = manifest == MASK and isinstance(base, str) and _MARK.fullmatch(base)
    return base if stands_for else manifest


def without_marks(kind: ResourceKind, value: Any) -> Any:
    """Return a manifest, a part of one, or its text, with placeholders instead of marks."""
    if isinstance(value, dict):
        return {name: without_marks(kind, item) for name, item in value.items()}
    return _MARK.sub(MASK, value) if kind.masked and isinstance(value, str) else value


def masked_at(kind: ResourceKind, path: Sequence[str], value: Any) -> Any:
    """Return the value at this path of an object with placeholders for masked values."""
    whole = deepcopy(value)
    for name in reversed(path):
        whole = {name: whole}
    whole = mask_values(whole, kind.masked)
    for name in path:
        whole = whole[name] if isinstance(whole, dict) else whole
    return whole


def parse_manifest(text: str, kind: ResourceKind, key: Key, uid: str) -> ParsedManifest:
    """Parse a text as a manifest of the given object. Raise `InvalidManifest` if it is not one."""
    if len(text) > MOST:
        raise InvalidManifest(_("Use at most %(limit_value)s characters.") % {"limit_value": MOST})
    try:
        document = read_document(text)
    except yaml.YAMLError as error:
        raise InvalidManifest([syntax_problem(error, text)]) from error
    found = ParsedManifest(document, {})
    problems = list(_identity(found, kind, key, uid))
    if problems:
        raise InvalidManifest(problems)
    manifest = writable_content(document.value)
    if key.namespace:
        manifest["metadata"]["namespace"] = key.namespace
    metadata = document.value["metadata"]
    ignored = [
        found.ignored_field("metadata", name)
        for name in sorted(SERVER_SET - {"uid"})
        if name in metadata
    ]
    if "status" in document.value:
        ignored.append(found.ignored_field("status"))
    return ParsedManifest(document, manifest, ignored)


def syntax_problem(error: yaml.YAMLError, text: str, first: int = 1) -> ManifestProblem:
    """Return the YAML syntax error as a problem with its position. `first` is the number of the
    text's first line.
    """
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or ""
    words = _("Could not parse the YAML: %(problem)s.") % {"problem": problem}
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        return ManifestProblem(words, mark.line + first, mark.column + 1)
    if isinstance(error, ReaderError):
        before = text.encode(errors="replace")[: error.position].decode(errors="replace")
        line = before.count("\n") + first
        return ManifestProblem(words, line, len(before.rpartition("\n")[2]) + 1)
    return ManifestProblem(words, first, 1)


def _identity(
    found: ParsedManifest, kind: ResourceKind, key: Key, uid: str
) -> Iterator[ManifestProblem]:
    value = found.document.value
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict):
        yield found.problem(
            _("This is not a manifest. A manifest needs apiVersion, kind, and metadata.")
        )
        return
    expected: list[tuple[str, Any, tuple[str, ...], bool]] = [
        (kind.gvr.group_version, value, ("apiVersion",), True),
        (kind.api_kind, value, ("kind",), True),
        (key.name, metadata, ("metadata", "name"), True),
        (key.namespace, metadata, ("metadata", "namespace"), False),
        (uid, metadata, ("metadata", "uid"), False),
    ]
    for wanted, inside, steps, needed in expected:
        if steps[-1] not in inside and not needed:
            continue
        if inside.get(steps[-1]) != wanted:
            words = {"field": ".".join(steps), "value": wanted}
            yield found.problem(
                _("%(field)s cannot be changed. The value must be %(value)s.") % words, steps
            )


def unmasked(found: ParsedManifest, live: Mapping[str, Any], kind: ResourceKind) -> Manifest:
    """Return the manifest with masks replaced by the object's values. Raise `InvalidManifest` for a mask
    without a corresponding value.
    """
    if not kind.masked:
        return found.manifest
    problems: list[ManifestProblem] = []
    whole = writable_content(live)

    def restored(value: Any, own: Any, hidden: Any, steps: Steps) -> Any:
        if value == MASK and hidden == MASK:
            return own
        if value == MASK and len(problems) < MOST_PROBLEMS:
            problems.append(_placeholder(found, steps))
        if isinstance(value, dict):
            return {
                name: restored(item, _at(own, name), _at(hidden, name), (*steps, name))
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [restored(item, None, None, (*steps, at)) for at, item in enumerate(value)]
        return value

    manifest: Manifest = restored(found.manifest, whole, editable(kind, live), ())
    if problems:
        raise InvalidManifest(problems)
    return manifest


def unresolved_masks(found: ParsedManifest, kind: ResourceKind) -> Iterator[ManifestProblem]:
    """Yield the masks in a new manifest, which have no value to stand for."""

    def inside(value: Any, steps: Steps) -> Iterator[ManifestProblem]:
        if value == MASK:
            yield _placeholder(found, steps)
        named = value.items() if isinstance(value, dict) else ()
        for step, item in named or (enumerate(value) if isinstance(value, list) else ()):
            yield from inside(item, (*steps, step))

    return islice(inside(found.manifest, ()), MOST_PROBLEMS if kind.masked else 0)


def _placeholder(found: ParsedManifest, steps: Steps) -> ManifestProblem:
    text = _("This is a placeholder for a hidden value. Enter the actual value.")
    return found.problem(text, steps)


def comparable_manifest(
    kind: ResourceKind, live: Mapping[str, Any], result: Mapping[str, Any]
) -> Manifest:
    """Return the expected object for a comparison with the current one. Changed masked values are
    marked as changed, but not shown.
    """

    # Not inside an f-string, where makemessages does not find texts.
    new_value = _("(new value)")

    def marked(hidden: Any, own: Any, other: Any) -> Any:
        if isinstance(hidden, dict):
            return {
                name: marked(item, _at(own, name), _at(other, name))
                for name, item in hidden.items()
            }
        changed = hidden == MASK and not json_equal(own, other)
        return f"{MASK} {new_value}" if changed else hidden

    found: Manifest = marked(
        editable(kind, result), writable_content(result), writable_content(live)
    )
    return found


def masked_values(kind: ResourceKind, live: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values that are masked."""

    def hidden_in(hidden: Any, own: Any) -> Iterator[str]:
        if hidden == MASK and isinstance(own, str) and own:
            yield own
        elif isinstance(hidden, dict):
            for name, item in hidden.items():
                yield from hidden_in(item, _at(own, name))

    return hidden_in(editable(kind, live), writable_content(live)) if kind.masked else iter(())


def _at(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
