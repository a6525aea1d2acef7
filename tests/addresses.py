"""Every address that the console has, so that a page cannot be forgotten by those who visit all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse


def addresses(values: Mapping[str, Sequence[str]], leave: Iterable[str] = ()) -> Iterator[str]:
    """Of all patterns whose parameters are in `values`, with each combination of these; `leave`: names of
    patterns that are left out."""
    for name, parameters in sorted(set(_patterns(get_resolver().url_patterns))):
        if name in leave or not set(parameters) <= set(values):
            continue
        for combined in product(*(values[parameter] for parameter in parameters)):
            given = dict(zip(parameters, combined, strict=True))
            try:
                yield reverse(name, kwargs=given)
            except NoReverseMatch:
                # What the pattern has of itself, as the namespace of a list, cannot be given.
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
