"""Descriptions of NetworkPolicies.

https://kubernetes.io/docs/concepts/services-networking/network-policies/
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext, pgettext_lazy

from console.ui.core.manifests import mapping, mappings_at, text, texts
from console.ui.core.text import space_mixed_scripts
from console.ui.details.descriptions.selectors import pods_text, selector_of
from console.ui.details.panels.description import MOST_ITEMS, Section, Sentences


class _Direction:
    """A direction of traffic with its sentences."""

    def __init__(
        self,
        field: str,
        peers: str,
        title: str | Promise,
        unaffected: str | Promise,
        denied: str | Promise,
        everything: str | Promise,
        allowed: str | Promise,
        allowed_ports: str | Promise,
    ) -> None:
        self.field, self.peers, self.title = field, peers, title
        self.unaffected, self.denied, self.everything = unaffected, denied, everything
        self.allowed, self.allowed_ports = allowed, allowed_ports


_DIRECTIONS = (
    _Direction(
        "ingress",
        "from",
        pgettext_lazy("traffic", "Ingress"),
        gettext_lazy("Does not affect ingress."),
        gettext_lazy("Denies all ingress."),
        gettext_lazy("Allows all ingress."),
        gettext_lazy("Allows ingress from %(peer)s."),
        gettext_lazy("Allows ingress from %(peer)s on %(ports)s."),
    ),
    _Direction(
        "egress",
        "to",
        pgettext_lazy("traffic", "Egress"),
        gettext_lazy("Does not affect egress."),
        gettext_lazy("Denies all egress."),
        gettext_lazy("Allows all egress."),
        gettext_lazy("Allows egress to %(peer)s."),
        gettext_lazy("Allows egress to %(peer)s on %(ports)s."),
    ),
)


def network_policy(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec = mapping(manifest, "spec")
    types = texts(spec.get("policyTypes"))
    if not types:
        # API default: every policy affects ingress, and egress only if it has egress rules.
        types = ["Ingress", *(["Egress"] if mappings_at(spec, "egress") else [])]
    for direction in _DIRECTIONS:
        if direction.field.capitalize() not in types:
            yield Sentences([direction.unaffected], direction.title)
            continue
        rules = mappings_at(spec, direction.field)
        total = sum(len(mappings_at(rule, direction.peers)) or 1 for rule in rules)
        found = islice((one for rule in rules for one in _sentences(rule, direction)), MOST_ITEMS)
        sentences: list[str | Promise] = [*found] or [direction.denied]
        section = Sentences(sentences, direction.title)
        section.more = max(0, total - len(sentences))
        yield section


def rule_sentences(rule: Mapping[str, Any], direction: str) -> list[str]:
    """Return a sentence for each peer of a rule. `direction` is the field of the rules."""
    [found] = (one for one in _DIRECTIONS if one.field == direction)
    return [*_sentences(rule, found)]


def _sentences(rule: Mapping[str, Any], direction: _Direction) -> Iterator[str]:
    ports = ", ".join(_port(port) for port in mappings_at(rule, "ports")[:MOST_ITEMS])
    peers = mappings_at(rule, direction.peers)
    if not peers and not ports:
        yield str(direction.everything)
        return
    template = str(direction.allowed_ports if ports else direction.allowed)
    anywhere = {
        "ingress": pgettext("network policy", "any source"),
        "egress": pgettext("network policy", "any destination"),
    }
    for peer in map(_peer, peers) if peers else (anywhere[direction.field],):
        yield space_mixed_scripts(template % {"peer": peer, "ports": ports})


def _port(port: Mapping[str, Any]) -> str:
    protocol, first = text(port.get("protocol")) or "TCP", text(port.get("port"))
    if not first:
        return _("%(protocol)s (all ports)") % {"protocol": protocol}
    last = text(port.get("endPort"))
    return f"{protocol} {first}–{last}" if last else f"{protocol} {first}"


def _peer(peer: Mapping[str, Any]) -> str:
    block = mapping(peer, "ipBlock")
    if block:
        excluded, words = texts(block.get("except")), {"block": text(block.get("cidr"))}
        if not excluded:
            return words["block"]
        return _("%(block)s except %(excluded)s") % {**words, "excluded": ", ".join(excluded)}
    projects = peer.get("namespaceSelector")
    return pods_text(
        selector_of(peer.get("podSelector") or {}),
        None if projects is None else selector_of(projects),
    )
