"""Word expansion: parameters, substitutions, field splitting and pathname expansion."""

import asyncio
import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from devcluster.shell.arithmetic import evaluate
from devcluster.shell.files import Files, Folder, absolute
from devcluster.shell.pipes import LIMIT, LimitExceeded
from devcluster.shell.processes import ProgramError
from devcluster.shell.syntax import Arithmetic, Parameter, Part, Script, Substitution, Text, Word

# Maximum length of values for pattern removal, which tests each position, and of patterns.
_TRIMMED, _LONGEST = 1024, 200
#: Maximum number of arguments of a command.
_MOST = 20_000
_GLOB = frozenset("*?[")


class ExpansionContext(Protocol):
    """The part of the shell that expansions use."""

    folder: str
    positional: list[str]

    @property
    def files(self) -> Files: ...

    def value(self, name: str) -> str | None: ...

    def assign(self, name: str, value: str) -> None: ...

    async def output_of(self, body: Script) -> str: ...


@dataclass(slots=True)
class _Field:
    """An argument under construction: pieces of text, each with a flag if it can contain a pattern."""

    pieces: list[tuple[str, bool]] = field(default_factory=list)
    there: bool = False

    def add(self, text: str, *, pattern: bool) -> None:
        self.pieces.append((text, pattern))
        self.there = True

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.pieces)

    @property
    def pattern(self) -> str | None:
        """The glob pattern, or None if the field contains no pattern."""
        if not any(open_ and _GLOB & set(text) for text, open_ in self.pieces):
            return None
        escape = "".maketrans({"*": "[*]", "?": "[?]", "[": "[[]"})
        return "".join(t if open_ else t.translate(escape) for t, open_ in self.pieces)


class Expansion:
    def __init__(self, source: ExpansionContext) -> None:
        self._source = source
        self._size = 0

    async def arguments(self, words: Sequence[Word]) -> list[str]:
        """Expand the words, split them into fields and match patterns with file names."""
        found: list[str] = []
        for word in words:
            for one in await self._fields(word):
                for argument in self._matches(one):
                    found.append(self._count(argument))
            await asyncio.sleep(0)
        return found

    async def text(self, word: Word) -> str:
        """Expand a word to a single text without splitting, for assignments and redirections."""
        parts = [
            await self._part(_tilde(part, self._source) if not i else part)
            for i, part in enumerate(word)
        ]
        return "".join(parts)

    async def _fields(self, word: Word) -> list[_Field]:
        found = [_Field()]
        for index, part in enumerate(word):
            if isinstance(part, Text):
                first = part if index else _tilde(part, self._source)
                found[-1].add(await self._part(first), pattern=not part.quoted)
            elif isinstance(part, Parameter) and part.name == "@" and part.quoted:
                for number, value in enumerate(self._source.positional):
                    if number:
                        found.append(_Field())
                    found[-1].add(self._count(value), pattern=False)
            elif part.quoted:
                found[-1].add(await self._part(part), pattern=False)
            else:
                self._split(found, await self._part(part))
        return [one for one in found if one.there]

    @staticmethod
    def _split(found: list[_Field], value: str) -> None:
        """Add an unquoted value. Each blank starts a new field."""
        pieces = value.split()
        if len(found) + len(pieces) > _MOST:
            raise LimitExceeded
        if value[:1].isspace() and found[-1].there:
            found.append(_Field())
        for number, piece in enumerate(pieces):
            if number:
                found.append(_Field())
            found[-1].add(piece, pattern=True)
        if pieces and value[-1:].isspace():
            found.append(_Field())

    def _matches(self, one: _Field) -> list[str]:
        pattern = one.pattern
        if pattern is None or len(pattern) > _LONGEST:
            return [one.text]
        start = "/" if pattern.startswith("/") else ""
        found = [start]
        steps = [step for step in pattern.split("/") if step]
        for index, step in enumerate(steps):
            found = [path for above in found for path in self._in(above, step, index > 0)]
        return sorted(found) or [one.text]

    def _in(self, above: str, step: str, inner: bool) -> list[str]:
        """Return the paths of the folder's entries that match one segment of a pattern."""
        source = self._source
        folder = source.files.find(absolute(source.folder, above))
        if not isinstance(folder, Folder):
            return []
        prefix = f"{above}/" if inner else above
        hidden = step.startswith(".")
        return [
            prefix + name
            for name in folder.entries()
            if fnmatch.fnmatchcase(name, step) and (hidden or not name.startswith("."))
        ]

    # Parts --------------------------------------------------------------------------------------

    async def _part(self, part: Part) -> str:
        match part:
            case Text():
                found = part.value
            case Parameter():
                found = await self._parameter(part)
            case Substitution():
                found = (await self._source.output_of(part.body)).rstrip("\n")
            case Arithmetic():
                expression = await self.text(part.word)
                found = str(evaluate(expression, lambda name: self._source.value(name) or ""))
        return self._count(found)

    async def _parameter(self, part: Parameter) -> str:
        value = self._source.value(part.name)
        operator, empty_counts = part.operator.lstrip(":"), part.operator.startswith(":")
        missing = value is None or (empty_counts and not value)
        match operator:
            case "length":
                return str(len(value or ""))
            case "-":
                return await self.text(part.word) if missing else value or ""
            case "+":
                return "" if missing else await self.text(part.word)
            case "=" if missing:
                self._source.assign(part.name, await self.text(part.word))
                return self._source.value(part.name) or ""
            case "?" if missing:
                raise ProgramError(
                    f"{part.name}: {await self.text(part.word) or 'parameter not set'}"
                )
            case "#" | "##" | "%" | "%%":
                return _trimmed(value or "", operator, await self.text(part.word))
        return value or ""

    def _count(self, text: str) -> str:
        """Limit the total size of expanded values, because a script can double a value repeatedly."""
        self._size += len(text)
        if self._size > LIMIT:
            raise LimitExceeded
        return text


def _tilde(part: Part, source: ExpansionContext) -> Part:
    """Replace a leading `~` with the home directory."""
    if isinstance(part, Text) and not part.quoted and (part.value + "/").startswith("~/"):
        return Text((source.value("HOME") or "") + part.value[1:])
    return part


def _trimmed(value: str, operator: str, pattern: str) -> str:
    """Remove the shortest or longest match of the pattern at the start or end of the value."""
    if len(value) > _TRIMMED or len(pattern) > _LONGEST:
        raise LimitExceeded
    places = range(len(value) + 1)
    front = operator[0] == "#"
    shortest_first = len(operator) == 1
    for place in places if front == shortest_first else reversed(places):
        cut = value[:place] if front else value[place:]
        if fnmatch.fnmatchcase(cut, pattern):
            return value[place:] if front else value[:place]
    return value
