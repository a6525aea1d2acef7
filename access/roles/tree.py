"""The permission tree of the role form: templates grouped by module."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from console.kube.gvr import NODE_METRICS
from console.ui.core.registry import kinds
from rbac.catalogue import CATALOGUE, PREFIX, Template
from rbac.escalation_check import covers
from rbac.rule_descriptions import describe_rules
from rbac.rules import Rules


@dataclass(frozen=True, slots=True)
class TemplateNode:
    """A template in the tree. `needs` contains the names of templates that are included with this
    one. `held` is True if the viewer may grant it. `has_pages` is False if the console has no own
    pages for any of its resources.
    """

    name: str
    title: str
    needs: tuple[str, ...]
    needed: str
    sentences: tuple[str, ...]
    ticked: bool
    held: bool
    has_pages: bool


@dataclass(frozen=True, slots=True)
class ModuleNode:
    """A module with its templates."""

    title: str
    leaves: tuple[TemplateNode, ...]

    @property
    def ticked(self) -> int:
        return sum(leaf.ticked for leaf in self.leaves)


def permission_tree(
    known: Mapping[str, Template], chosen: Collection[str], held: Rules
) -> tuple[ModuleNode, ...]:
    """Return modules and templates in the order of `known`."""
    modules: dict[str, list[TemplateNode]] = {}
    comma = pgettext("between two of several", ", ")
    for template in known.values():
        leaf = TemplateNode(
            template.name,
            title_of(template),
            template.needs,
            comma.join(title_of(known[name]) for name in template.needs if name in known),
            tuple(describe_rules(template.rules)),
            template.name in chosen,
            covers(held, template.rules),
            _has_pages(template.rules),
        )
        modules.setdefault(template.module, []).append(leaf)
    return tuple(ModuleNode(_(module), tuple(leaves)) for module, leaves in modules.items())


def _has_pages(rules: Rules) -> bool:
    """Return True if the console shows objects or usage of an API group that the rules name."""
    groups = {kind.gvr.group for kind in kinds} | {NODE_METRICS.group}
    return any(group == "*" or group in groups for rule in rules for group in rule.api_groups)


def title_of(template: Template) -> str:
    """Return the title of a template. Titles of built-in templates are translated."""
    if template.title not in _our_titles():
        return template.title
    verb, _space, what = template.title.partition(" ")
    words = {"things": _(what)}
    if verb == "view":
        return _("View %(things)s") % words
    if verb == "create":
        return _("Create %(things)s") % words
    return _("Manage %(things)s") % words


def titles(names: Iterable[str], known: Mapping[str, Template]) -> list[str]:
    return [title_of(known[name]) if name in known else name.removeprefix(PREFIX) for name in names]


@lru_cache(1)
def _our_titles() -> frozenset[str]:
    return frozenset(template.title for template in CATALOGUE)
