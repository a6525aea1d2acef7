"""Descriptions of rules in plain language, such as "manage pods, services"."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice, product

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import pgettext, pgettext_lazy

from console.kube.gvr import GVR
from console.ui.core.kind import ResourceKind
from console.ui.core.registry import kinds
from console.ui.core.text import space_mixed_scripts
from rbac.catalogue import MANAGE, READ
from rbac.rules import ALL, Rule, Rules

#: Maximum number of resources in one sentence. The YAML lists all of them.
MAX_RESOURCES = 12
#: Maximum number of resources of a rule that are evaluated. Rules may have thousands.
MAX_EVALUATED = 200
#: https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb
_VERBS: dict[str, str | Promise] = {
    "get": pgettext_lazy("verb of a rule", "get"),
    "list": pgettext_lazy("verb of a rule", "list"),
    "watch": pgettext_lazy("verb of a rule", "watch"),
    "create": pgettext_lazy("verb of a rule", "create"),
    "update": pgettext_lazy("verb of a rule", "update"),
    "patch": pgettext_lazy("verb of a rule", "patch"),
    "delete": pgettext_lazy("verb of a rule", "delete"),
    "deletecollection": pgettext_lazy("verb of a rule", "deletecollection"),
    "bind": pgettext_lazy("verb of a rule", "bind"),
    "escalate": pgettext_lazy("verb of a rule", "escalate"),
    "impersonate": pgettext_lazy("verb of a rule", "impersonate"),
    "approve": pgettext_lazy("verb of a rule", "approve"),
    "sign": pgettext_lazy("verb of a rule", "sign"),
    "use": pgettext_lazy("verb of a rule", "use"),
}


def is_usual_verb(verb: str) -> bool:
    """Return True for the verbs that Kubernetes defines. Rules may contain other verbs."""
    return verb == ALL or verb in _VERBS


def describe_rule(rule: Rule) -> str:
    if rule.non_resource_urls:
        words = {"verbs": _verbs(rule.verbs), "paths": _joined(rule.non_resource_urls)}
        if ALL in rule.verbs:
            return _("request paths %(paths)s") % words
        return space_mixed_scripts(_("%(verbs)s paths %(paths)s") % words)
    things = tuple(dict.fromkeys(_named(rule.api_groups, rule.resources)))
    text = _describe_verbs(rule.verbs, _listed(things))
    if rule.resource_names:
        names = _joined(rule.resource_names[:MAX_RESOURCES])
        text = _("%(what)s, only: %(names)s") % {"what": text, "names": names}
    return text


def describe_rules(rules: Rules) -> list[str]:
    """Describe rules together. Rules with equal verbs are combined into one sentence."""
    together: dict[frozenset[str], list[Rule]] = {}
    single = []
    for rule in rules:
        if rule.resource_names or rule.non_resource_urls:
            single.append(describe_rule(rule))
        elif rule.verbs and rule.api_groups and rule.resources:
            together.setdefault(frozenset(rule.verbs), []).append(rule)
    found = []
    for same in together.values():
        things = dict.fromkeys(
            thing for rule in same for thing in _named(rule.api_groups, rule.resources)
        )
        found.append(_describe_verbs(same[0].verbs, _listed(tuple(things))))
    return [*found, *single]


def describe_resource(group: str, resource: str) -> str:
    """Return the console's name for a resource, or the resource name such as `pods`."""
    if resource == ALL:
        if group == ALL:
            return _("all resources")
        return _("all resources in %(group)s") % {"group": group or "core"}
    plural, slash, sub = resource.partition("/")
    kind = _kind(group, plural)
    # A rule for all groups matches every type with this name.
    named = plural if group == ALL else GVR(group, "", plural).qualified
    nouns = str(kind.nouns) if kind is not None else named
    return f"{nouns}/{sub}" if slash else nouns


def _describe_verbs(verbs: Iterable[str], things: str) -> str:
    given, words = set(verbs), {"things": things}
    if ALL in given:
        text = _("perform all actions on %(things)s")
    elif given >= set(MANAGE):
        text = _("manage %(things)s")
    elif given == set(READ):
        text = _("view %(things)s")
    else:
        text = _("%(verbs)s %(things)s")
        words["verbs"] = _verbs(sorted(given))
    return space_mixed_scripts(text % words)


def _verbs(verbs: Iterable[str]) -> str:
    return _joined(str(_VERBS.get(verb, verb)) for verb in verbs)


def _joined(texts: Iterable[str]) -> str:
    return pgettext("between two of several", ", ").join(texts)


def _named(groups: Iterable[str], resources: Iterable[str]) -> list[str]:
    found = islice(product(groups, resources), MAX_EVALUATED)
    return [describe_resource(group, resource) for group, resource in found]


def _listed(things: tuple[str, ...]) -> str:
    text = _joined(things[:MAX_RESOURCES])
    left = len(things) - MAX_RESOURCES
    return _("%(things)s and %(left)s more") % {"things": text, "left": left} if left > 0 else text


def _kind(group: str, plural: str) -> ResourceKind | None:
    if group == ALL:
        return next((kind for (_group, name), kind in _kinds().items() if name == plural), None)
    return _kinds().get((group, plural))


@lru_cache(1)
def _kinds() -> dict[tuple[str, str], ResourceKind]:
    """Return the built-in resource types, which don't change at runtime."""
    return {(kind.gvr.group, kind.gvr.resource): kind for kind in kinds}
