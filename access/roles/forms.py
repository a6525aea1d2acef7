"""What somebody typed about a role: a name, texts, templates, and rules beyond these."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec
import yaml
from django.http import HttpRequest
from django.utils.translation import gettext as _

from console.ui.yamlreading import read_yaml
from console.ui.yamltext import plain_yaml
from rbac.catalogue import Template
from rbac.rules import Rule, Rules
from rbac.templates import rules_of, with_needs, written

MAX_NAME, MAX_TEXT, MAX_RULES = 63, 256, 16_384
#: Characters of a uid or a version; Kubernetes' own have 36 at most.
MAX_ID = 128
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


@dataclass(slots=True)
class RoleForm:
    """`chosen`: templates with what they need; `added`: those among them that were not ticked. `further`:
    rules as YAML, as they were typed. `uid` and `version`: of the role that was shown."""

    name: str = ""
    alias: str = ""
    description: str = ""
    chosen: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    further: str = ""
    uid: str = ""
    version: str = ""
    rules: Rules = ()
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def is_right(self) -> bool:
        return not self.errors


def read_form(request: HttpRequest, known: Mapping[str, Template], *, prefix: str = "") -> RoleForm:
    """`prefix`: what names of this place begin with."""
    given = request.POST.getlist("template")
    ticked = [name for name in given if name in known]
    chosen = with_needs(ticked, known)
    form = RoleForm(
        name=prefix + _text(request, "name"),
        alias=_text(request, "alias"),
        description=_text(request, "description"),
        chosen=chosen,
        added=tuple(name for name in chosen if name not in ticked),
        further=request.POST.get("further", "").replace("\r\n", "\n"),
        uid=request.POST.get("uid", "")[:MAX_ID],
        version=request.POST.get("version", "")[:MAX_ID],
    )
    if len(ticked) < len(given):
        form.errors["template"] = _("A permission that was chosen is not there any more.")
    further, problem = parse_further(form.further)
    if problem:
        form.errors["further"] = problem
    form.rules = tuple(dict.fromkeys((*rules_of(chosen, known), *further)))
    return form


def check_name(form: RoleForm, *, prefix: str = "") -> None:
    given = form.name.removeprefix(prefix)
    if len(form.name) > MAX_NAME or not _NAME.fullmatch(form.name) or not given:
        text = _("Use lower-case letters, digits, - and ., at most %(max)s characters.")
        form.errors["name"] = text % {"max": MAX_NAME - len(prefix)}


def further_text(rules: Iterable[Rule]) -> str:
    """Rules as YAML, "" for none of them."""
    found = written(rules)
    return plain_yaml(found) if found else ""


def parse_further(text: str) -> tuple[Rules, str]:
    """The rules, and what is wrong with them."""
    if len(text) > MAX_RULES:
        return (), _("These are more than %(max)s characters.") % {"max": MAX_RULES}
    try:
        found = read_yaml(text)
        rules = msgspec.convert(found or [], tuple[_Strict, ...])
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        return (), _("This is no list of rules: %(problem)s") % {"problem": _first_line(error)}
    for rule in rules:
        if not rule.verbs or not (rule.nonResourceURLs or (rule.apiGroups and rule.resources)):
            text = _("A rule needs verbs, and apiGroups with resources or nonResourceURLs.")
            return (), text
    return tuple(_rule(rule) for rule in rules), ""


class _Strict(msgspec.Struct, forbid_unknown_fields=True):
    """A rule as somebody writes it: what is misspelled is said, not dropped."""

    verbs: tuple[str, ...] = ()
    apiGroups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resourceNames: tuple[str, ...] = ()
    nonResourceURLs: tuple[str, ...] = ()


def _rule(rule: _Strict) -> Rule:
    return Rule(
        rule.verbs, rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs
    )


def _first_line(error: Exception) -> str:
    problem = getattr(error, "problem", None)
    return str(problem or error).partition("\n")[0][:200]


def _text(request: HttpRequest, name: str) -> str:
    """Without what cannot be seen."""
    given = request.POST.get(name, "")[: 4 * MAX_TEXT]
    return "".join(c if c.isprintable() else " " for c in given).strip()[:MAX_TEXT]
