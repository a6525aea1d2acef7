"""Description of CustomResourceDefinitions, except for their versions."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.ui.core.manifests import mapping, text, texts
from console.ui.details.panels.description import Facts, Section


def definition(manifest: Mapping[str, Any]) -> Iterator[Section]:
    names = mapping(manifest, "spec", "names")
    yield Facts(
        (_("Plural name"), text(names.get("plural"))),
        (_("Singular name"), text(names.get("singular"))),
        (_("Kind of lists"), text(names.get("listKind"))),
        (_("Categories"), texts(names.get("categories"))),
        (_("Stored versions"), texts(mapping(manifest, "status").get("storedVersions"))),
    )
