"""Form for a role: name, texts, templates, and additional rules."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import yaml
from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.names import is_dns_subdomain
from console.ui.core.text import escape_invisible
from console.ui.editing.yaml_text import plain_yaml, read_yaml
from console.ui.forms.forms import ConsoleForm, TextField
from rbac.catalogue import Template
from rbac.rules import Rule, Rules, rules_to_json
from rbac.templates import rules_of, with_dependencies

MAX_NAME, MAX_RULES = 63, 16_384
#: Maximum length of a uid or version. Those of Kubernetes have at most 36 characters.
MAX_ID = 128


class _RulesField(forms.CharField):
    widget = forms.Textarea(
        {"class": "input code", "rows": 8, "spellcheck": "false", "autocapitalize": "none"}
    )

    def to_python(self, value: Any) -> Any:
        return _read(super().to_python(value) or "")


class RoleForm(ConsoleForm):
    """Form for a new or existing role.

    - `initial`: initial data, which may include the `rules`
    - `prefix`: prefix of new role names in this scope, or None for an existing role
    - `chosen`: selected templates and the templates that they need
    - `added`: templates in `chosen` that the user did not select
    - `rules`: the resulting rules
    """

    ids = "role-%s"
    rendered_by_page = ("template", "further")
    error_fields = {"metadata.name": "name", "rules": "further"}

    name = TextField(label=gettext_lazy("Name"), required=False)
    alias = TextField(label=gettext_lazy("Alias"), is_optional=True)
    description = TextField(label=gettext_lazy("Description"), is_optional=True)
    template = forms.MultipleChoiceField(
        label=gettext_lazy("Permissions"),
        required=False,
        error_messages={"invalid_choice": gettext_lazy("A selected permission no longer exists.")},
    )
    further = _RulesField(
        label=gettext_lazy("Additional rules"),
        help_text=gettext_lazy(
            "A list of rules in YAML, as in a Role. Add permissions here that are not listed above."
        ),
        required=False,
        strip=False,
    )

    def __init__(
        self,
        data: QueryDict | None,
        known: Mapping[str, Template],
        initial: Mapping[str, Any],
        *,
        prefix: str | None = None,
    ) -> None:
        super().__init__(data, initial=dict(initial))
        self._known, self._before = known, prefix or ""
        self.fields["template"].choices = [(name, name) for name in known]  # type: ignore[attr-defined]
        self.chosen: tuple[str, ...] = initial.get("template", ())
        self.added: tuple[str, ...] = ()
        self.rules: Rules = initial.get("rules", ())
        if prefix is None:
            del self.fields["name"]
            return
        hint = _("Use lowercase letters, digits, - and . only. The name cannot be changed later.")
        before = (
            _("The prefix %(prefix)s is added to the name.") % {"prefix": escape_invisible(prefix)}
            if prefix
            else ""
        )
        self.fields["name"].help_text = f"{before} {hint}".strip()

    def clean_name(self) -> str:
        typed = self.cleaned_data["name"]
        name = f"{self._before}{typed}"
        if "preview" in self.data or (typed and is_dns_subdomain(name, MAX_NAME)):
            return name
        text = _("Use lowercase letters, digits, - and . only, at most %(max)s characters.")
        raise ValidationError(text % {"max": MAX_NAME - len(self._before)})

    def clean(self) -> None:
        ticked = [name for name in self["template"].value() or () if name in self._known]
        self.chosen = with_dependencies(ticked, self._known)
        self.added = tuple(name for name in self.chosen if name not in ticked)
        further = self.cleaned_data.get("further", ())
        self.rules = tuple(dict.fromkeys((*rules_of(self.chosen, self._known), *further)))


def further_text(rules: Iterable[Rule]) -> str:
    """Return the rules as YAML, or "" if there are none."""
    found = rules_to_json(rules)
    return plain_yaml(found) if found else ""


def _read(text: str) -> Rules:
    if len(text) > MAX_RULES:
        raise ValidationError(
            _("The rules are longer than %(max)s characters.") % {"max": MAX_RULES}
        )
    try:
        found = read_yaml(text)
        rules = msgspec.convert(found or [], tuple[_Strict, ...])
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        text = _("Not a valid list of rules: %(problem)s") % {
            "problem": escape_invisible(
                str(getattr(error, "problem", None) or error).partition("\n")[0][:200]
            )
        }
        raise ValidationError(text) from error
    for rule in rules:
        if not rule.verbs or not (rule.nonResourceURLs or (rule.apiGroups and rule.resources)):
            raise ValidationError(
                _("Each rule needs verbs, and either apiGroups and resources, or nonResourceURLs.")
            )
    return tuple(_rule(rule) for rule in rules)


class _Strict(msgspec.Struct, forbid_unknown_fields=True):
    """A rule as entered by the user. Unknown fields are reported as errors instead of being
    ignored.
    """

    verbs: tuple[str, ...] = ()
    apiGroups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resourceNames: tuple[str, ...] = ()
    nonResourceURLs: tuple[str, ...] = ()


def _rule(rule: _Strict) -> Rule:
    return Rule(
        rule.verbs, rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs
    )
