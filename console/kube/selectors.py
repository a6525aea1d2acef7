"""Label and field selectors in Kubernetes syntax.

See https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors and
https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/. An empty
selector matches everything. `SelectorError` describes a syntax error in one sentence.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from console.kube.messages import Message
from console.kube.names import is_dns_subdomain, is_label_name, is_label_value

_SET = re.compile(r"(?P<key>\S+)\s+(?P<op>in|notin)\s*\((?P<values>[^()]*)\)")
_EQUALITY = re.compile(r"(?P<key>[^=!<>\s]+)\s*(?P<op>==|!=|=|>|<)\s*(?P<value>[^=!<>]*)")
_FIELD = re.compile(r"(?P<path>[^=!]+?)(?P<op>==|!=|=)(?P<value>.*)", re.DOTALL)


class SelectorError(ValueError):
    """The selector is invalid. `sentence` is the reason, as a message for users."""

    def __init__(self, template: str, **params: str) -> None:
        self.sentence = Message(template, **params)
        super().__init__(self.sentence)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement on one label. `op` is `in`, `notin`, `exists`, `!`, `>` or `<`."""

    key: str
    op: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        if self.op == "exists":
            return value is not None
        if self.op == "!":
            return value is None
        if self.op == "notin":
            # An object without the label satisfies `!=` and `notin`, as in Kubernetes.
            return value not in self.values
        if value is None:
            return False
        return value in self.values if self.op == "in" else self._compare(value)

    def _compare(self, value: str) -> bool:
        try:
            number, bound = int(value), int(next(iter(self.values)))
        except ValueError:
            return False
        return number > bound if self.op == ">" else number < bound

    def __str__(self) -> str:
        if self.op in ("exists", "!"):
            return self.key if self.op == "exists" else f"!{self.key}"
        values = sorted(self.values)
        if self.op in (">", "<"):
            return f"{self.key}{self.op}{values[0]}"
        if len(values) == 1:
            return f"{self.key}{'=' if self.op == 'in' else '!='}{values[0]}"
        return f"{self.key} {self.op} ({','.join(values)})"


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A conjunction of requirements. `str()` returns the canonical form."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        return all(requirement.matches(labels) for requirement in self.requirements)

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def __str__(self) -> str:
        return ",".join(str(requirement) for requirement in self.requirements)


def parse_labels(text: str) -> LabelSelector:
    """Parse a selector such as `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`. Raise `SelectorError`."""
    if not text.strip():
        return LabelSelector()
    return LabelSelector(tuple(_requirement(part.strip()) for part in _split(text)))


@lru_cache(2000)
def read_selector(text: str) -> LabelSelector | None:
    """Parse a selector. Return None, which selects nothing, if it is invalid."""
    try:
        return parse_labels(text)
    except SelectorError:
        return None


def _split(text: str) -> list[str]:
    """Split at commas that are not inside parentheses."""
    parts, depth, start = [], 0, 0
    for index, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth < 0 or depth > 1:
            raise SelectorError("The parentheses in “%(text)s” do not match.", text=text)
        if letter == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    if depth:
        raise SelectorError("The parentheses in “%(text)s” do not match.", text=text)
    return [*parts, text[start:]]


def _requirement(part: str) -> Requirement:
    if not part:
        raise SelectorError("The label selector has nothing between two commas.")
    if found := _SET.fullmatch(part):
        values = [value.strip() for value in found["values"].split(",")]
        return _checked(found["key"], found["op"], values, part)
    if found := _EQUALITY.fullmatch(part):
        op = {"=": "in", "==": "in", "!=": "notin"}.get(found["op"], found["op"])
        return _checked(found["key"], op, [found["value"].strip()], part)
    if part.startswith("!"):
        return _checked(part[1:].strip(), "!", [], part)
    return _checked(part, "exists", [], part)


def _checked(key: str, op: str, values: list[str], part: str) -> Requirement:
    _check_key(key, part)
    for value in values:
        if op in (">", "<"):
            if not re.fullmatch(r"-?[0-9]+", value):
                raise SelectorError(
                    "“%(value)s” in “%(part)s” is not a whole number.", value=value, part=part
                )
        elif not is_label_value(value):
            raise SelectorError(
                "“%(value)s” is not a valid label value. Use up to 63 letters, digits, “-”, “_”, and "
                "“.”.",
                value=value,
            )
    return Requirement(key, op, frozenset(values))


def is_qualified(key: str) -> bool:
    """Return True for a valid label key, `name` or `prefix/name`."""
    try:
        _check_key(key, key)
    except SelectorError:
        return False
    return True


def _check_key(key: str, part: str) -> None:
    prefix, slash, name = key.rpartition("/")
    if slash and not is_dns_subdomain(prefix):
        raise SelectorError(
            "“%(prefix)s” in “%(part)s” is not a valid prefix of a label name.",
            prefix=prefix,
            part=part,
        )
    if not is_label_name(name):
        raise SelectorError(
            "“%(part)s” is not a valid label selector: “%(key)s” is not a valid label name.",
            part=part,
            key=key,
        )


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """A field must equal `value`, or must differ from it."""

    path: str
    value: str
    equal: bool = True

    def __str__(self) -> str:
        return f"{self.path}{'=' if self.equal else '!='}{_escape(self.value)}"


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """A conjunction of requirements. A missing field counts as an empty string."""

    requirements: tuple[FieldRequirement, ...] = ()

    def matches(self, getter: Callable[[str], str | None]) -> bool:
        """Return True if all requirements match. `getter` returns the value at a path like
        `metadata.name`.
        """
        return all(((getter(r.path) or "") == r.value) == r.equal for r in self.requirements)

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def __str__(self) -> str:
        return ",".join(str(requirement) for requirement in self.requirements)


def parse_fields(text: str) -> FieldSelector:
    """Parse a selector such as `a.b=c,d!=e`. A backslash escapes a comma, `=` and a backslash.

    Raise `SelectorError`.
    """
    requirements = []
    for part in _terms(text):
        found = _FIELD.fullmatch(part)
        if not found:
            raise SelectorError(
                "“%(part)s” is not a valid field selector. Use “field=value”.", part=part
            )
        value = _unescape(found["value"], part)
        requirements.append(FieldRequirement(found["path"], value, found["op"] != "!="))
    return FieldSelector(tuple(requirements))


def _terms(text: str) -> list[str]:
    """Split at unescaped commas and drop empty parts."""
    parts = re.findall(r"(?:\\.|[^,\\]|\\$)+", text, re.DOTALL)
    return [part.strip() for part in parts if part.strip()]


def _unescape(value: str, part: str) -> str:
    if not re.fullmatch(r"(?:\\[\\,=]|[^\\,=])*", value, re.DOTALL):
        raise SelectorError(
            "“%(part)s” is not a valid field selector. Write “\\=”, “\\,”, and “\\\\”.", part=part
        )
    return re.sub(r"\\([\\,=])", r"\1", value)


def _escape(value: str) -> str:
    return re.sub(r"([\\,=])", r"\\\1", value)
