"""List the routes of the console."""

import re
from typing import Any

from django.urls import URLPattern, URLResolver
from django.urls.converters import IntConverter


def _one(converter: Any) -> str:
    """Return a value that the path converter accepts."""
    if isinstance(converter, IntConverter):
        return "1"
    known = "[" not in converter.regex and "." not in converter.regex
    return converter.regex.partition("|")[0].replace("\\", "") if known else "x"


def routes(patterns: list[Any], prefix: str = "") -> list[tuple[str, str]]:
    """Return names and paths of all routes, with a value for each parameter."""
    found = []
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            space = f"{pattern.namespace}:" if pattern.namespace else ""
            inner = routes(pattern.url_patterns, path)
            found += [(space + name, route) for name, route in inner]
        elif isinstance(pattern, URLPattern):
            blanks = {"cluster": "host", "resource": "pods"}
            for name, converter in pattern.pattern.converters.items():
                path = re.sub(rf"<\w+:{name}>", blanks.get(name) or _one(converter), path)
            found.append((pattern.name or "", "/" + path))
    return found
