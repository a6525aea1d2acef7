"""List every URL pattern of the console, so that tests which visit all pages cannot miss one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse


def addresses(values: Mapping[str, Sequence[str]], leave: Iterable[str] = ()) -> Iterator[str]:
    """Yield the URLs of all patterns whose parameters are in `values`, for each combination of
    values.

    `leave` names the patterns to skip.
    """
    for name, parameters in sorted(set(_patterns(get_resolver().url_patterns))):
        if name in leave or not set(parameters) <= set(values):
            continue
        for combined in product(*(values[parameter] for parameter in parameters)):
            given = dict(zip(parameters, combined, strict=True))
            try:
                yield reverse(name, kwargs=given)
            except NoReverseMatch:
                # The pattern defines this argument itself, such as the namespace of a list.
                continue


def _patterns(
    patterns: Iterable[URLPattern | URLResolver], space: str = ""
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = ":".join(part for part in (space, pattern.namespace) if part)
            yield from _patterns(pattern.url_patterns, inner)
        elif pattern.name:
            name = f"{space}:{pattern.name}" if space else pattern.name
            yield name, tuple(sorted(pattern.pattern.converters))
