"""Description of Leases."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.ui.core.manifests import mapping, text, time_text
from console.ui.details.panels.description import Facts, Section


def lease(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec = mapping(manifest, "spec")
    yield Facts(
        (_("Acquired"), time_text(spec.get("acquireTime"))),
        (_("Preferred holder"), text(spec.get("preferredHolder"))),
        (_("Strategy"), text(spec.get("strategy"))),
    )
