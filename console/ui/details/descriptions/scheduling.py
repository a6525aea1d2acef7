"""Descriptions of the nodes that a pod can run on, for pods and pod templates.

https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext, pgettext_lazy

from console.ui.core.amounts import seconds_text
from console.ui.core.manifests import mapping, mappings_at, number, text, texts
from console.ui.core.podspecs import pod_spec_of
from console.ui.core.text import space_mixed_scripts
from console.ui.details.descriptions.selectors import (
    node_terms,
    pods_text,
    requirement,
    selector_of,
)
from console.ui.details.panels.description import MOST_ITEMS, Section, Sentences, pairs_of

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
#: Texts for common topologies: the place of one pod relative to another, and the places in plural.
_PLACES: dict[str, tuple[str | Promise, str | Promise]] = {
    "kubernetes.io/hostname": (gettext_lazy("on the same node"), gettext_lazy("nodes")),
    "topology.kubernetes.io/zone": (
        gettext_lazy("in the same zone"),
        pgettext_lazy("topology", "zones"),
    ),
    "topology.kubernetes.io/region": (
        gettext_lazy("in the same region"),
        pgettext_lazy("topology", "regions"),
    ),
}
#: Sentences for pod affinity and anti-affinity: the required and the preferred terms.
_AFFINITIES: dict[str, tuple[str | Promise, str | Promise]] = {
    "podAffinity": (
        gettext_lazy("Runs only %(place)s as %(pods)s."),
        gettext_lazy("Preferably runs %(place)s as %(pods)s (weight %(weight)s)."),
    ),
    "podAntiAffinity": (
        gettext_lazy("Never runs %(place)s as %(pods)s."),
        gettext_lazy("Preferably does not run %(place)s as %(pods)s (weight %(weight)s)."),
    ),
}


def scheduling(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec = pod_spec_of(manifest)
    affinity = mapping(spec, "affinity")
    yield Sentences(
        [
            space_mixed_scripts(sentence)
            for found in (
                _nodes(spec, mapping(affinity, "nodeAffinity")),
                _other_pods(affinity),
                _spread(spec),
            )
            for sentence in found
        ]
    )
    tolerations = map(_toleration, mappings_at(spec, "tolerations")[:MOST_ITEMS])
    yield Sentences([*map(space_mixed_scripts, tolerations)], _("Tolerations"))


def _nodes(spec: Mapping[str, Any], affinity: Mapping[str, Any]) -> Iterator[str]:
    if wanted := pairs_of(mapping(spec, "nodeSelector")):
        yield _("Runs only on nodes with %(labels)s.") % {"labels": ", ".join(wanted)}
    if terms := [one for one in node_terms(affinity.get(_REQUIRED)) if one]:
        yield _("Runs only on nodes with %(labels)s.") % {"labels": _either(terms[:MOST_ITEMS])}
    for one in mappings_at(affinity, _PREFERRED)[:MOST_ITEMS]:
        [term] = node_terms({"nodeSelectorTerms": [mapping(one, "preference")]})
        words = {"labels": term, "weight": text(one.get("weight"))}
        yield _("Prefers nodes with %(labels)s (weight %(weight)s).") % words


def _other_pods(affinity: Mapping[str, Any]) -> Iterator[str]:
    for field, (required, preferred) in _AFFINITIES.items():
        for term in mappings_at(affinity, field, _REQUIRED)[:MOST_ITEMS]:
            yield str(required) % _term(term)
        for one in mappings_at(affinity, field, _PREFERRED)[:MOST_ITEMS]:
            term = _term(mapping(one, "podAffinityTerm"))
            yield str(preferred) % {**term, "weight": text(one.get("weight"))}


def _term(term: Mapping[str, Any]) -> dict[str, str]:
    """Return the pods and the place of a pod affinity term."""
    names, projects = texts(term.get("namespaces"))[:MOST_ITEMS], term.get("namespaceSelector")
    pods, found = _labels(term), []
    if names:
        words = {"pods": pods or _("any labels"), "projects": ", ".join(names)}
        found.append(_("pods with %(pods)s in projects %(projects)s") % words)
    if projects is not None or not names:
        found.append(pods_text(pods, None if projects is None else selector_of(projects)))
    key = text(term.get("topologyKey"))
    place = _("on nodes with the same label %(key)s") % {"key": key}
    # A term selects the union of the named and the matching projects.
    return {"pods": _either(found), "place": str(_PLACES.get(key, (place, ""))[0])}


def _labels(term: Mapping[str, Any]) -> str:
    """Return the label selector of an affinity term or of a spread constraint."""
    selector = term.get("labelSelector")
    if selector is None:
        # Kubernetes: "A null label selector matches with no pods".
        return _("no labels (no pod matches)")
    same = [_("the same %(key)s") % {"key": key} for key in texts(term.get("matchLabelKeys"))]
    other = [_("another %(key)s") % {"key": key} for key in texts(term.get("mismatchLabelKeys"))]
    return ", ".join(one for one in (selector_of(selector), *same, *other) if one)


def _either(found: Sequence[str]) -> str:
    return pgettext("between alternatives", " or ").join(found)


def _spread(spec: Mapping[str, Any]) -> Iterator[str]:
    for one in mappings_at(spec, "topologySpreadConstraints")[:MOST_ITEMS]:
        key, least = text(one.get("topologyKey")), number(one.get("minDomains"))
        places = _("groups of nodes with the same label %(key)s") % {"key": key}
        words = {
            "pods": pods_text(_labels(one), None),
            "places": _PLACES.get(key, ("", places))[1],
            "skew": text(one.get("maxSkew")),
            "domains": least,
        }
        if one.get("whenUnsatisfiable") == "ScheduleAnyway":
            template = _(
                "Preferably spreads %(pods)s over %(places)s, with a difference of at most "
                "%(skew)s."
            )
        else:
            template = _("Spreads %(pods)s over %(places)s, with a difference of at most %(skew)s.")
        yield template % words
        if least is not None and least > 1:
            template = _(
                "With fewer than %(domains)s %(places)s, each can run at most %(skew)s of these "
                "pods."
            )
            yield template % words


def _toleration(toleration: Mapping[str, Any]) -> str:
    key, value, effect = (text(toleration.get(name)) for name in ("key", "value", "effect"))
    operator, seconds = (
        text(toleration.get("operator")),
        number(toleration.get("tolerationSeconds")),
    )
    if operator in ("Lt", "Gt"):
        key = requirement({"key": key, "operator": operator, "values": [value]})
    elif value and operator != "Exists":
        key = f"{key}={value}"
    words = {
        "taint": f"{key}:{effect}".rstrip(":"),
        "effect": effect,
        "time": seconds_text(seconds or 0),
    }
    if seconds is not None and effect == "NoExecute":
        if key:
            return _("Tolerates the taint %(taint)s for %(time)s.") % words
        return _("Tolerates all taints with the effect %(effect)s for %(time)s.") % words
    if key:
        return _("Tolerates the taint %(taint)s.") % words
    if effect:
        return _("Tolerates all taints with the effect %(effect)s.") % words
    return _("Tolerates all taints.")
