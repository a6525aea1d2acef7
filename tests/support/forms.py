"""Form data as a browser submits it."""

import html
import re


def fields_of(text: str) -> dict[str, str]:
    """Return the data that a browser without scripts would submit."""
    drawn = re.sub(r"<template.*?</template>", "", text, flags=re.DOTALL)
    areas = re.findall(r'<textarea name="([^"]+)"[^>]*>\n?(.*?)</textarea>', drawn, re.DOTALL)
    found = {name: html.unescape(value) for name, value in areas}
    for name in ("uid", "was"):
        sent = re.search(f'name="{name}" value="([^"]*)"', drawn)
        assert sent is not None, text
        found[name] = html.unescape(sent[1])
    return found


def page_token(text: str) -> str:
    """Return the CSRF token of a page."""
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', text)
    assert found is not None, text
    return found[1]


def form_data(text: str) -> dict[str, str]:
    """Return the form data that a browser would submit without changes."""
    main = text.partition("<main")[2].partition("</main>")[0]
    form = re.sub(r"<template.*?</template>", "", main, flags=re.DOTALL)
    inputs = re.findall(r'<input type="(?:hidden|text|number)" ([^>]*)>', form)
    found = {}
    for attributes in inputs:
        name = re.search(r'name="([^"]+)"', attributes)
        value = re.search(r'value="([^"]*)"', attributes)
        assert name is not None
        found[name[1]] = html.unescape(value[1]) if value else ""
    areas = re.findall(r'<textarea name="([^"]+)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL)
    found |= {name: html.unescape(value) for name, value in areas}
    for name, options in re.findall(r'<select name="([^"]+)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options)
        first = re.search(r'value="([^"]*)"', options)
        assert first is not None
        found[name] = (chosen or first)[1]
    return {
        name: value for name, value in found.items() if name not in ("uid", "csrfmiddlewaretoken")
    }
