"""What holds for every template, whoever wrote it."""

import re

import pytest
from django.template.loader import get_template

from tests.unit.templates.files import ALL, PARTIALS, classes_in, scripts, source, stylesheets

FORBIDDEN = {
    "an inline style": r"\sstyle\s*=",
    "a style element": r"<style\b",
    "an inline event handler": r"<[^>]*\son\w+\s*=",
    "hx-on, which evaluates code": r"\bhx-on\b",
    "a trigger filter, which evaluates code": r"hx-trigger=\"[^\"]*\[",
    "js: values, which evaluate code": r"hx-(vals|headers|vars)=['\"]\s*(js|javascript):",
    "a filter that turns escaping off": r"\|\s*safe(seq)?\b",
    "a block that turns escaping off": r"autoescape\s+off",
    "a javascript: address": r"javascript:",
    "text in a script": r"<script\b[^>]*>[^<\s]",
}
REQUEST_BOUND = re.compile(r"\brequest\b|csrf|hx-swap-oob|\bmessages\.|\{% extends")


@pytest.mark.parametrize("name", ALL)
def it_compiles(name: str) -> None:
    get_template(name)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("what", FORBIDDEN)
def it_is_clean_of(what: str, name: str) -> None:
    assert not re.search(FORBIDDEN[what], source(name)), f"{name} has {what}"


@pytest.mark.parametrize("name", ALL)
def it_opens_with_a_comment_and_stays_short(name: str) -> None:
    text = source(name)
    assert re.match(r"({% extends [^%]*%}\n)?{% comment %}", text), f"{name} says nothing of itself"
    assert len(text.splitlines()) <= 60


@pytest.mark.parametrize("name", ALL)
def it_gives_its_scripts_the_nonce(name: str) -> None:
    for tag in re.findall(r"<script\b[^>]*>", source(name)):
        assert re.search(r'nonce="({{|{% given) request.csp_nonce (}}|%})"', tag)


@pytest.mark.parametrize("name", PARTIALS)
def it_needs_no_request_as_a_partial(name: str) -> None:
    body = re.sub(r"{% comment %}.*?{% endcomment %}", "", source(name), flags=re.DOTALL)
    found = [word for word in REQUEST_BOUND.findall(body) if word]
    assert not found, f"{name} cannot be sent by the socket: {found}"


def test_every_class_has_a_rule_and_every_rule_a_use() -> None:
    used = {name for template in ALL for name in classes_in(source(template))}
    used.update(re.findall(r'className[:=] "([\w-]+)"', scripts()))
    used.update(
        name
        for value in re.findall(r'with (?:\w+=\S+ )*class="([^"]*)"', "\n".join(map(source, ALL)))
        for name in value.split()
    )
    selectors = re.sub(r"\{[^{}]*\}", "{}", stylesheets())
    defined = set(
        re.findall(r"\.([a-z][\w-]*)", re.sub(r"url\([^)]*\)|@import[^;]*;", "", selectors))
    )
    markers = {"htmx-request"}
    assert used - defined - {"clock", "moment"} == set(), "no stylesheet knows these"
    assert defined - used - markers == set(), "no template uses these"
