"""The page that reveals the values of a Secret, for reading and copying.

Copying always yields the exact value. Values with invisible characters and binary values are
copied as base64.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from django.utils.translation import gettext_lazy

from console.ui.core.actions import Action, ActionContext, ActionPage, Outcome, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.links import object_url
from console.ui.core.manifests import mapping
from console.ui.core.text import escape_invisible_lines
from console.ui.core.threads import in_thread
from console.ui.details.panels.data import LARGEST
from console.ui.editing.yaml_text import yaml_text

#: Seconds after which the browser leaves the page automatically.
SHOWN = 60


@dataclass(frozen=True, slots=True)
class RevealedValue:
    """A value of a Secret.

    `text` is safe to display, and None for binary data. `encoded` is the base64 form, or "" if
    `text` is the exact value. `size` is in bytes.
    """

    key: str
    size: int
    text: str | None
    encoded: str


class Reveal(Action):
    """Show the values in `data`, read with the viewer's permissions at that moment.

    No other page shows the values. They are sent in the response to a POST, so that they have no
    URL and don't appear in the browser history or cache.
    """

    name = "reveal"
    label = gettext_lazy("Reveal values")
    weight = 3
    needs = (Permission("get"),)
    has_confirmation = False
    requires_uid = False
    audit_verb = ("reveal", "")

    async def run(self, context: ActionContext) -> Outcome:
        kind, key = context.kind, context.key
        manifest = await context.client.get(
            kind.gvr, namespace=key.namespace, name=key.name, audit_id=context.audit_id
        )
        cluster = context.access.cluster.name
        # A value may have a million characters.
        shown = await in_thread(_shown, kind, manifest)
        return ActionPage(
            "console/reveal.html",
            {
                "kind": kind.view,
                "name": key.name,
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
    return {"values": revealed_values(manifest), "yaml": yaml_text(kind, manifest) if fits else ""}


def revealed_values(manifest: Mapping[str, Any]) -> list[RevealedValue]:
    """Return the values in `data`, sorted by key."""
    return [_value(key, found) for key, found in sorted(mapping(manifest, "data").items())]


def _value(key: str, encoded: object) -> RevealedValue:
    # Go writes empty byte slices as null.
    given = encoded if isinstance(encoded, str) else ""
    try:
        content = base64.b64decode(given, validate=True)
    except ValueError:
        return RevealedValue(key, len(given), None, given)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return RevealedValue(key, len(content), None, given)
    shown = escape_invisible_lines(text)
    return RevealedValue(key, len(content), shown, "" if shown == text else given)
