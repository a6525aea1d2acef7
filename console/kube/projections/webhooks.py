"""Configurations of admission webhooks."""

from urllib.parse import urlsplit

import msgspec

from console.kube.gvr import (
    MUTATING_WEBHOOK_CONFIGURATIONS,
    VALIDATING_WEBHOOK_CONFIGURATIONS,
)
from console.kube.projections.common import Decoders, Object, Projection, Reference, basics, decoder


class Webhook(msgspec.Struct, frozen=True, gc=False):
    """An admission webhook.

    `fails_closed` is True if requests are rejected while the webhook does not respond. `target`
    is `namespace/service`, or a host name outside the cluster. `resources` are `plural.group`.
    """

    name: str
    fails_closed: bool
    target: str
    resources: tuple[str, ...]


class WebhookConfiguration(Projection, frozen=True):
    """A validating or mutating webhook configuration.

    `webhooks` and `failing_closed` are the numbers of all `hooks` and of those that fail closed.
    `targets` and `resources` combine those of all hooks.
    """

    hooks: tuple[Webhook, ...]
    webhooks: int
    failing_closed: int
    targets: tuple[str, ...]
    resources: tuple[str, ...]


class _ClientConfig(msgspec.Struct, gc=False):
    service: Reference | None = None
    url: str | None = None


class _Rule(msgspec.Struct, gc=False):
    apiGroups: tuple[str, ...] | None = None
    resources: tuple[str, ...] | None = None


class _Webhook(msgspec.Struct, gc=False):
    name: str = ""
    clientConfig: _ClientConfig | None = None
    rules: tuple[_Rule, ...] | None = None
    failurePolicy: str | None = None


class _Webhooks(Object):
    webhooks: tuple[_Webhook, ...] | None = None


def _configuration(item: _Webhooks) -> WebhookConfiguration:
    hooks = tuple(map(_hook, item.webhooks or ()))
    return WebhookConfiguration(
        **basics(item.metadata),
        hooks=hooks,
        webhooks=len(hooks),
        failing_closed=sum(hook.fails_closed for hook in hooks),
        targets=tuple(dict.fromkeys(hook.target for hook in hooks if hook.target)),
        resources=tuple(dict.fromkeys(one for hook in hooks for one in hook.resources)),
    )


def _hook(webhook: _Webhook) -> Webhook:
    resources = [
        _resource(resource, group)
        for rule in webhook.rules or ()
        for group in rule.apiGroups or ()
        for resource in rule.resources or ()
    ]
    return Webhook(
        name=webhook.name,
        # The API default is Fail.
        fails_closed=webhook.failurePolicy != "Ignore",
        target=_target(webhook.clientConfig or _ClientConfig()),
        resources=tuple(dict.fromkeys(resources)),
    )


def _resource(resource: str, group: str) -> str:
    """Return `plural.group`, or `*` for all resources of all groups."""
    whole = not group or (group == "*" and resource.startswith("*"))
    return resource if whole else f"{resource}.{group}"


def _target(config: _ClientConfig) -> str:
    if config.service is not None:
        return config.service.path
    try:
        return urlsplit(config.url or "").hostname or ""
    except ValueError:
        return ""


_decode_webhooks = decoder(_Webhooks, _configuration)

DECODERS: Decoders = {
    VALIDATING_WEBHOOK_CONFIGURATIONS: _decode_webhooks,
    MUTATING_WEBHOOK_CONFIGURATIONS: _decode_webhooks,
}
