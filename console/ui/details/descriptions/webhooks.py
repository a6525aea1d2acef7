"""Descriptions of admission webhook configurations."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.ui.core.manifests import mapping, mappings_at, number, text, texts
from console.ui.details.descriptions.roles import resources_of
from console.ui.details.descriptions.selectors import selector_of
from console.ui.details.panels.description import DescriptionTable, Facts, Section

_FAILURE: dict[str, str | Promise] = {
    "Fail": gettext_lazy("reject the request (Fail)"),
    "Ignore": gettext_lazy("accept the request (Ignore)"),
}
_SIDE_EFFECTS: dict[str, str | Promise] = {
    "None": gettext_lazy("none"),
    "NoneOnDryRun": gettext_lazy("none during a dry run (NoneOnDryRun)"),
    "Some": gettext_lazy("also during a dry run: dry runs fail (Some)"),
    "Unknown": gettext_lazy("unknown: dry runs fail (Unknown)"),
}
_MATCHING: dict[str, str | Promise] = {
    "Exact": gettext_lazy("only requests in the API version of the rule (Exact)"),
    "Equivalent": gettext_lazy("requests in any API version of the resource (Equivalent)"),
}
#: API defaults.
_SECONDS = 10


def webhook_configuration(manifest: Mapping[str, Any]) -> Iterator[Section]:
    for webhook in mappings_at(manifest, "webhooks"):
        yield _webhook(webhook)
        rules = mappings_at(webhook, "rules")
        rows = (
            (
                ", ".join(texts(rule.get("operations"))),
                resources_of(rule),
                ", ".join(texts(rule.get("apiVersions"))),
                _scope(text(rule.get("scope"))),
            )
            for rule in rules
        )
        columns = (_("Operations"), _("Resources"), _("API versions"), _("Scope"))
        yield DescriptionTable(
            columns, rows, len(rules), _("Rules of %(name)s") % {"name": _name(webhook)}
        )


def _name(webhook: Mapping[str, Any]) -> str:
    return text(webhook.get("name")) or _("unnamed")


def _webhook(webhook: Mapping[str, Any]) -> Section:
    seconds = number(webhook.get("timeoutSeconds"))
    failure = text(webhook.get("failurePolicy")) or "Fail"
    effects = text(webhook.get("sideEffects"))
    matching = text(webhook.get("matchPolicy")) or "Equivalent"
    config = mapping(webhook, "clientConfig")
    count = _SECONDS if seconds is None else seconds
    timeout = ngettext("%(n)s second", "%(n)s seconds", count) % {"n": count}
    return Facts(
        (_("Calls"), client_text(config)),
        (
            _("Certificate authority"),
            _("set by the configuration") if config.get("caBundle") else _("of the system"),
        ),
        (_("On failure"), _FAILURE.get(failure, failure)),
        (_("Timeout"), timeout),
        (_("Side effects"), _SIDE_EFFECTS.get(effects, effects)),
        (_("Matches"), _MATCHING.get(matching, matching)),
        (_("Projects"), selector_of(webhook.get("namespaceSelector") or {}) or _("all")),
        (_("Objects"), selector_of(webhook.get("objectSelector") or {}) or _("all")),
        (
            _("Conditions"),
            [
                f"{text(one.get('name'))}: {text(one.get('expression'))}"
                for one in mappings_at(webhook, "matchConditions")
            ],
        ),
        (_("Called again"), text(webhook.get("reinvocationPolicy"))),
        (_("Review versions"), ", ".join(texts(webhook.get("admissionReviewVersions")))),
        title=_name(webhook),
    )


def client_text(config: Mapping[str, Any]) -> str:
    """Return the called URL, or the service as `namespace/name:port/path`."""
    service = mapping(config, "service")
    if not service:
        return text(config.get("url"))
    port = text(service.get("port")) or "443"
    path = text(service.get("path"))
    separator = "" if not path or path.startswith("/") else "/"
    name = f"{text(service.get('namespace'))}/{text(service.get('name'))}"
    return f"{name}:{port}{separator}{path}"


def _scope(scope: str) -> str:
    scopes = {"Cluster": _("cluster-wide"), "Namespaced": _("in projects")}
    return scopes.get(scope, "" if scope in ("", "*") else scope)
