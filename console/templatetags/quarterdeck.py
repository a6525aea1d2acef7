"""Tags for cached fragments, and filters for text that is readable without JavaScript.

`static/js/ages.js` updates ages in the browser.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from django import template
from django.conf import settings
from django.template.base import FilterExpression, Node, Parser, Token, Variable, token_kwargs
from django.template.context import Context
from django.utils.html import conditional_escape, escape
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.timezone import is_naive, localtime
from django.utils.translation import get_language, override

from console.templatetags.symbols import ICONS, MARKS
from console.ui.core.menu import LevelName
from console.ui.core.text import escape_invisible as visible_text
from console.ui.core.words import translate_message as spoken_text
from console.ui.fragments.cached_fragments import (
    actions_html,
    cell_html,
    part_html,
    rows_html,
)
from console.ui.fragments.placeholders import (
    LivePlaceholder,
    age_text,
    placeholder,
    streamed_part,
)
from console.ui.lists.rows import ActionBar, Cell, ListRow
from console.ui.navigation.nav import LevelProblemCount, LevelProblems
from console.ui.navigation.page_frame import LevelSwitcher

register = template.Library()

#: Parts of at least this many characters bypass the page's templates (streamed parts).
LONG = 4096


@register.filter
def icon(name: str) -> str:
    """Return the SVG shapes of an icon, or "" for an unknown name."""
    return ICONS.get(name, "")


@register.filter
def mark(severity: str) -> str:
    """Return the SVG shapes of a status icon, or "" for an unknown severity."""
    return MARKS.get(severity, "")


@register.filter
def age(since: datetime | None, now: datetime | None = None) -> str:
    """Format an age in its largest unit: 8s, 12m, 3h, 4d, 2y. None is formatted as an em dash."""
    return "—" if since is None else age_text(since, now)


@register.filter
def iso(moment: datetime | None) -> str:
    """Format a time for the attribute `datetime`: 2026-11-25T08:37:58+00:00. None is formatted as
    "". Django's filter `date` takes ten times as long.
    """
    return _local(moment).isoformat() if moment else ""


@register.filter
def exact(moment: datetime | None) -> str:
    """Format a time in every language: 2026-11-25 08:37:58 UTC. None is formatted as ""."""
    if not moment:
        return ""
    local = _local(moment)
    return f"{local.year:04}-{local:%m-%d %H:%M:%S} {local.tzname() or ''}".rstrip()


def _local(moment: datetime) -> datetime:
    return moment if is_naive(moment) else localtime(moment)


@register.filter
def thousands(number: int | None) -> str:
    """Format a number as 12,840 in every language. None is formatted as a question mark."""
    return "?" if number is None else f"{number:,}"


@register.filter
def visible(text: object) -> str:
    """Replace invisible characters in a name with their code points."""
    return visible_text(str(text))


@register.filter
def opening(words: object) -> str:
    """Capitalize the first letter, except in names such as gRPC."""
    text = str(words)
    return text if text[1:2].isupper() else capfirst(text)


@register.filter
def in_english(words: object) -> str:
    """Return `opening` in English, or "" if that equals the text in the page's language."""
    with override("en"):
        english = opening(words)
    return "" if english == opening(words) else english


@register.filter
def spoken(text: str) -> str:
    """Return the translated reason why a page isn't live."""
    return spoken_text(text)


@register.simple_tag
def rows(rows: Sequence[ListRow]) -> SafeString:
    """`{% rows table.rows %}`: the rows of a list. Each row is rendered once and cached for all
    viewers.
    """
    return streamed_part(rows_html(rows, get_language() or settings.LANGUAGE_CODE))


@register.simple_tag
def cell(cell: Cell) -> SafeString:
    """`{% cell cell %}`: a cell whose template uses only the cell. It is rendered once and cached."""
    return cell_html(cell)


@register.simple_tag
def actions(template: str, actions: ActionBar, *, name: str, **texts: str) -> SafeString:
    """`{% actions "ui/_acts.html" actions uid=row.uid name=row.name %}`: the actions of an object.
    The template is rendered once for all objects with the same actions.
    """
    return actions_html(template, actions, name=visible_text(name), **texts)


@register.simple_tag
def places(
    level: LevelName, names: tuple[str, ...], scope: LevelSwitcher, *, current: str
) -> SafeString:
    """`{% places "project" scope.namespaces scope current=level.namespace %}`: menu items of all
    projects or workspaces. They are rendered once for all current levels, because there can be
    thousands.
    """
    values = (
        ("level", level),
        ("names", names),
        ("cluster", scope.cluster),
        ("segment", scope.segment),
        ("problems", scope.problems),
    )
    html = part_html("ui/_places.html", values)
    before, place, after = html.partition(f' data-place="{escape(current)}"')
    pieces = (before, place, ' aria-current="true"' if place else "", after)
    return SafeString("".join(pieces))


@register.tag
def part(parser: Parser, token: Token) -> "PartNode":
    """`{% part "ui/_icon.html" name="menu" %}`: like `{% include … with … only %}`, but cached.

    The template may use only the given values, the language and `{% given %}`. The values are
    part of the cache key, so they must be immutable.
    """
    rest = token.split_contents()[1:]
    name = rest.pop(0) if rest else ""
    values = token_kwargs(rest, parser)
    if rest or not name.startswith('"') or not name.endswith('"'):
        raise template.TemplateSyntaxError("part takes the name of a template, then name=value")
    return PartNode(name[1:-1], values)


class PartNode(Node):
    def __init__(self, name: str, values: Mapping[str, FilterExpression]) -> None:
        self._name = name
        self._values = tuple(values.items())

    def render(self, context: Context) -> SafeString:
        values = tuple((name, value.resolve(context)) for name, value in self._values)
        html = part_html(self._name, values, lambda name: _resolve_escaped(name, context))
        return streamed_part(html) if len(html) >= LONG else html


@register.simple_tag
def lasting(what: LivePlaceholder) -> SafeString:
    """`{% lasting item.count %}`: a value that changes independently of the cached fragment around
    it.
    """
    return SafeString(placeholder(what) or what.html(get_language() or settings.LANGUAGE_CODE))


@register.simple_tag
def failing(problems: LevelProblems, level: LevelName, name: str) -> SafeString:
    """`{% failing scope.problems "project" name %}`: a placeholder for the number of failing
    objects in a place.
    """
    return lasting(LevelProblemCount(problems, level, name))


@register.tag
def given(_parser: Parser, token: Token) -> "GivenNode":
    """`{% given csrf_token %}`: a placeholder for a value of the request in a cached fragment."""
    _tag, *names = token.split_contents()
    if len(names) != 1:
        raise template.TemplateSyntaxError("given takes one name")
    return GivenNode(names[0])


class GivenNode(Node):
    def __init__(self, name: str) -> None:
        self._name = name

    def render(self, context: Context) -> SafeString:
        left = placeholder(self._name)
        return _resolve_escaped(self._name, context) if left is None else SafeString(left)


@lru_cache
def _variable(name: str) -> Variable:
    return Variable(name)


def _resolve_escaped(name: str, context: Context) -> SafeString:
    """Return the escaped value, or "" if the context doesn't have it, as on error pages."""
    try:
        value = _variable(name).resolve(context)
    except template.VariableDoesNotExist:
        value = ""
    return conditional_escape(value)
