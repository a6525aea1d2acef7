"""Parser for shell scripts.

It supports the part of https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html
that is common in interactive use. Functions, `case`, here-documents and arrays are not
supported.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from devcluster.shell.pipes import LIMIT
from devcluster.shell.syntax import (
    Arithmetic,
    Chain,
    Command,
    For,
    Group,
    If,
    Loop,
    Parameter,
    Part,
    Pipeline,
    Redirection,
    Script,
    SimpleCommand,
    Substitution,
    Text,
    Word,
)

_NESTED = 30
_TOO_DEEP = "too deeply nested"
_BLANK = re.compile(r"(?:[ \t]|\\\n)*(?:#[^\n]*)?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]|[?$!#@*-]")
_BRACED = re.compile(r"(#?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[?$!#@*-])")
_OPERATOR = re.compile(r":?[-+=?]|##?|%%?")
_REDIRECTION = re.compile(r"([0-9]?)(<<<|>>|>&|<&|>\||<>|>|<)|(&>>?)")
_RESERVED = re.compile(r"(?:if|then|elif|else|fi|for|do|done|while|until|[!{}])(?=[\s;&|()]|$)")
_DELIMITERS = " \t\n;&|()<>"
_ESCAPED_IN_QUOTES = '$`"\\\n'


class ShellSyntaxError(Exception):
    """The text is not a valid script."""


class IncompleteScript(ShellSyntaxError):
    """The text is incomplete and may become valid with more lines."""


def parse(text: str) -> Script:
    """Parse a script. Raise `ShellSyntaxError` if it is invalid."""
    if len(text) > LIMIT:
        raise ShellSyntaxError("the script is too long")
    try:
        return _Parser(text).script()
    except RecursionError as error:
        raise ShellSyntaxError(_TOO_DEEP) from error


@dataclass
class _Parser:
    text: str
    at: int = 0
    depth: int = 0

    # Lists --------------------------------------------------------------------------------------

    def script(self) -> Script:
        found = self._list(())
        if self.at < len(self.text):
            raise self._unexpected()
        return found

    def _list(self, ends: Sequence[str]) -> Script:
        """Parse a list up to one of the reserved words, `)` or the end of the text. The end is not
        consumed.
        """
        self.depth += 1
        if self.depth > _NESTED:
            raise ShellSyntaxError(_TOO_DEEP)
        chains: list[Chain] = []
        while True:
            self._skip_lines()
            if self.at >= len(self.text) or self._peek() == ")" or self._reserved() in ends:
                break
            chains.append(self._chain())
        self.depth -= 1
        return Script(tuple(chains))

    def _body(self, *ends: str) -> tuple[Script, str]:
        """Parse a list and the reserved word that ends it."""
        found = self._list(ends)
        end = self._reserved()
        if end not in ends:
            raise IncompleteScript("unexpected end of file") if self._over() else self._unexpected()
        self.at += len(end)
        if not found.chains:
            raise ShellSyntaxError(f'syntax error near unexpected token "{end}"')
        return found, end

    def _chain(self) -> Chain:
        start, operator = self.at, ""
        pipelines: list[tuple[str, Pipeline]] = []
        while True:
            pipelines.append((operator, self._pipeline()))
            self._skip_blanks()
            operator = self.text[self.at : self.at + 2]
            if operator not in ("&&", "||"):
                break
            self.at += 2
            self._skip_lines()
            if self._over():
                raise IncompleteScript("unexpected end of file")
        text = self.text[start : self.at].strip()
        background = self._peek() == "&"
        if self._peek() in (";", "&", "\n"):
            if self.text.startswith(";;", self.at):
                raise self._unexpected()
            self.at += 1
        elif not self._over() and self._peek() != ")":
            raise self._unexpected()
        return Chain(tuple(pipelines), background, text)

    def _pipeline(self) -> Pipeline:
        negated = self._reserved() == "!"
        if negated:
            self.at += 1
        commands = [self._command()]
        while True:
            self._skip_blanks()
            if self._peek() != "|" or self.text.startswith("||", self.at):
                return Pipeline(tuple(commands), negated)
            self.at += 1
            self._skip_lines()
            if self._over():
                raise IncompleteScript("unexpected end of file")
            commands.append(self._command())

    # Commands -----------------------------------------------------------------------------------

    def _command(self) -> Command:
        self._skip_blanks()
        what: Group | If | Loop | For
        match self._reserved():
            case "{":
                self.at += 1
                what = Group(self._body("}")[0], apart=False)
            case "if":
                what = self._if()
            case "while" | "until" as word:
                self.at += len(word)
                condition, _ = self._body("do")
                what = Loop(condition, self._body("done")[0], word == "until")
            case "for":
                what = self._for()
            case "":
                if self._peek() != "(":
                    return self._simple()
                self.at += 1
                what = Group(self._enclosed(), apart=True)
            case _:
                raise self._unexpected()
        redirections: list[Redirection] = []
        while self._redirection(redirections):
            pass
        return Command(what, tuple(redirections))

    def _enclosed(self) -> Script:
        """Parse a list and its closing parenthesis."""
        found = self._list(())
        if self._over():
            raise IncompleteScript("unexpected end of file")
        self.at += 1
        return found

    def _if(self) -> If:
        self.at += 2
        clauses: list[tuple[Script, Script]] = []
        while True:
            condition, _ = self._body("then")
            body, end = self._body("elif", "else", "fi")
            clauses.append((condition, body))
            if end == "else":
                return If(tuple(clauses), self._body("fi")[0])
            if end == "fi":
                return If(tuple(clauses), None)

    def _for(self) -> For:
        self.at += 3
        self._skip_blanks()
        name = _NAME.match(self.text, self.at)
        if not name:
            raise self._unexpected()
        self.at = name.end()
        self._skip_blanks()
        words: list[Word] | None = None
        if re.compile(r"in(?=\s)").match(self.text, self.at):
            self.at += 2
            words = []
            while word := self._word():
                words.append(word)
        self._skip_blanks()
        if self._peek() == ";":
            self.at += 1
        self._skip_lines()
        if self._reserved() != "do":
            raise IncompleteScript("unexpected end of file") if self._over() else self._unexpected()
        self.at += 2
        body, _ = self._body("done")
        return For(name.group(), None if words is None else tuple(words), body)

    def _simple(self) -> Command:
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirections: list[Redirection] = []
        start = self.at
        while True:
            if self._redirection(redirections):
                continue
            name = _NAME.match(self.text, self.at)
            if not words and name and self.text.startswith("=", name.end()):
                self.at = name.end() + 1
                assignments.append((name.group(), self._word(leading=False) or ()))
            elif word := self._word():
                words.append(word)
            else:
                break
        if self.at == start:
            raise self._unexpected()
        return Command(SimpleCommand(tuple(assignments), tuple(words)), tuple(redirections))

    def _redirection(self, found: list[Redirection]) -> bool:
        self._skip_blanks()
        match = _REDIRECTION.match(self.text, self.at)
        if not match:
            return False
        number, operator, both = match.groups()
        if self.text.startswith("<<", self.at) and operator != "<<<":
            raise ShellSyntaxError("here-documents are not supported")
        self.at = match.end()
        target = self._word()
        if not target:
            raise self._unexpected()
        if both:
            found.append(Redirection(12, both[1:], target))
        else:
            usual = 0 if operator.startswith("<") else 1
            found.append(Redirection(int(number) if number else usual, operator, target))
        return True

    # Words --------------------------------------------------------------------------------------

    def _word(self, *, leading: bool = True, ends: str = _DELIMITERS) -> Word:
        """Parse a word. Return an empty word if the text does not continue with a word."""
        if leading:
            self._skip_blanks()
        parts: list[Part] = []
        while (letter := self._peek()) and letter not in ends:
            self.at += 1
            if letter == "\\":
                escaped = self._peek()
                self.at += 1
                if escaped != "\n":
                    parts.append(Text(escaped or "\\", quoted=True))
            elif letter == "'":
                end = self.text.find("'", self.at)
                if end < 0:
                    raise IncompleteScript("unterminated quoted string")
                parts.append(Text(self.text[self.at : end], quoted=True))
                self.at = end + 1
            elif letter == '"':
                parts += self._quoted()
            elif letter in "$`":
                parts.append(self._expansion(letter, quoted=False))
            else:
                parts.append(Text(letter))
        return _joined(parts)

    def _quoted(self) -> list[Part]:
        parts: list[Part] = [Text("", quoted=True)]
        while letter := self._peek():
            self.at += 1
            if letter == '"':
                return parts
            if letter == "\\" and self._peek() and self._peek() in _ESCAPED_IN_QUOTES:
                if self._peek() != "\n":
                    parts.append(Text(self._peek(), quoted=True))
                self.at += 1
            elif letter in "$`":
                parts.append(self._expansion(letter, quoted=True))
            else:
                parts.append(Text(letter, quoted=True))
        raise IncompleteScript("unterminated quoted string")

    def _expansion(self, sign: str, *, quoted: bool) -> Part:
        """Parse an expansion after `$` or a backquote."""
        if sign == "`":
            end = self.text.find("`", self.at)
            if end < 0:
                raise IncompleteScript("unterminated backquote")
            body = _Parser(self.text[self.at : end], depth=self.depth + 1).script()
            self.at = end + 1
            return Substitution(body, quoted)
        if self.text.startswith("((", self.at):
            return self._arithmetic(quoted=quoted)
        if self._peek() == "(":
            self.at += 1
            return Substitution(self._enclosed(), quoted)
        if self._peek() == "{":
            self.at += 1
            return self._braced(quoted=quoted)
        name = _PARAMETER.match(self.text, self.at)
        if not name:
            return Text("$", quoted)
        self.at = name.end()
        return Parameter(name.group(), quoted=quoted)

    def _arithmetic(self, *, quoted: bool) -> Arithmetic:
        self.at += 2
        open_ones, parts = 0, list[Part]()
        while letter := self._peek():
            self.at += 1
            if letter == ")" and open_ones == 0:
                if self._peek() != ")":
                    raise self._unexpected()
                self.at += 1
                return Arithmetic(_joined(parts), quoted)
            open_ones += {"(": 1, ")": -1}.get(letter, 0)
            inner = letter == "$"
            parts.append(self._expansion("$", quoted=True) if inner else Text(letter, quoted=True))
        raise IncompleteScript("unterminated arithmetic expression")

    def _braced(self, *, quoted: bool) -> Parameter:
        found = _BRACED.match(self.text, self.at)
        if not found:
            raise ShellSyntaxError("bad substitution")
        self.at = found.end()
        length, name = found.groups()
        operator, word = "length" if length else "", Word()
        if not length and (match := _OPERATOR.match(self.text, self.at)):
            operator = match.group()
            self.at = match.end()
            word = self._word(leading=False, ends="}")
        if self._over():
            raise IncompleteScript("unterminated parameter")
        if self._peek() != "}":
            raise ShellSyntaxError("bad substitution")
        self.at += 1
        return Parameter(name, operator, word, quoted)

    # Letters ------------------------------------------------------------------------------------

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _over(self) -> bool:
        return self.at >= len(self.text)

    def _reserved(self) -> str:
        match = _RESERVED.match(self.text, self.at)
        return match.group() if match else ""

    def _skip_blanks(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _skip_lines(self) -> None:
        self._skip_blanks()
        while self._peek() == "\n":
            self.at += 1
            self._skip_blanks()

    def _unexpected(self) -> ShellSyntaxError:
        match = re.compile(r"&&|\|\||;;|\w+|.|\n|$").match(self.text, self.at)
        found = match.group() if match else ""
        if not found:
            return IncompleteScript("unexpected end of file")
        shown = "newline" if found == "\n" else found
        return ShellSyntaxError(f'syntax error: unexpected "{shown}"')


def _joined(parts: Sequence[Part]) -> Word:
    """Join adjacent texts with the same quoting."""
    found: list[Part] = []
    run: list[str] = []
    for index, part in enumerate(parts):
        if not isinstance(part, Text):
            found.append(part)
            continue
        run.append(part.value)
        after = parts[index + 1] if index + 1 < len(parts) else None
        if not isinstance(after, Text) or after.quoted != part.quoted:
            found.append(Text("".join(run), part.quoted))
            run = []
    return tuple(found)
