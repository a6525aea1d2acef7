"""The values of a Secret as a page shows them, to be read and copied.

What is copied is the value itself: of one that has characters that cannot be seen, or that is no text,
that is its base64.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from django.utils.translation import gettext_lazy

from console.ui.actions import Action, Context, Outcome, Page, Permission
from console.ui.kind import NAV_GROUPS, ResourceKind
from console.ui.links import list_url, object_url
from console.ui.manifests import mapping
from console.ui.panels.yaml import LARGEST
from console.ui.text import visible_block
from console.ui.threads import in_thread
from console.ui.yamltext import yaml_text

#: Seconds after which the browser leaves the page by itself.
SHOWN = 60


@dataclass(frozen=True, slots=True)
class Value:
    """`text`: as it may be looked at, None if it is no text. `encoded` is base64, "" where the text is
    the value. `size` is in bytes."""

    key: str
    size: int
    text: str | None
    encoded: str


class Reveal(Action):
    """Shows the values of `data`, which no other page has, read as the viewer at that moment. They are in
    this one answer, which nobody keeps: an address alone must not lead to it, nor a history."""

    name = "reveal"
    label = gettext_lazy("Reveal values")
    weight = 3
    needs = (Permission("get"),)
    asks = False
    wants_uid = False
    trail = ("reveal", "")

    async def run(self, context: Context) -> Outcome:
        kind, key = context.kind, context.key
        manifest = await context.client.get(
            kind.gvr, namespace=key.namespace, name=key.name, audit_id=context.audit_id
        )
        cluster = context.access.cluster.name
        # One may be a million characters long.
        shown = await in_thread(_shown, kind, manifest)
        return Page(
            "console/reveal.html",
            {
                "kind": kind.view,
                "group": NAV_GROUPS[kind.nav.group],
                "name": key.name,
                "namespace": key.namespace,
                "up_url": list_url(cluster, kind.segment, key.namespace),
                "url": object_url(cluster, kind.segment, key),
                "seconds": SHOWN,
                **shown,
            },
        )


def _shown(kind: ResourceKind, manifest: dict[str, Any]) -> dict[str, Any]:
    metadata = manifest.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("managedFields", None)
    fits = len(msgspec.json.encode(manifest)) <= LARGEST
    return {"values": values(manifest), "yaml": yaml_text(kind, manifest) if fits else ""}


def values(manifest: Mapping[str, Any]) -> list[Value]:
    """Of each key of `data`, in their order."""
    return [_value(key, found) for key, found in sorted(mapping(manifest, "data").items())]


def _value(key: str, encoded: object) -> Value:
    # No bytes at all are null in what Go writes.
    given = encoded if isinstance(encoded, str) else ""
    try:
        content = base64.b64decode(given, validate=True)
    except ValueError:
        return Value(key, len(given), None, given)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return Value(key, len(content), None, given)
    shown = visible_block(text)
    return Value(key, len(content), shown, "" if shown == text else given)
