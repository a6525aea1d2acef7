"""Description of nodes."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.ui.core.manifests import mapping, mappings_at, text, texts
from console.ui.details.panels.description import DescriptionTable, Facts, Section


def node(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec, status = mapping(manifest, "spec"), mapping(manifest, "status")
    info = mapping(status, "nodeInfo")
    addresses = mappings_at(status, "addresses")
    yield Facts(
        *((text(one.get("type")), text(one.get("address"))) for one in addresses),
        title=_("Addresses"),
        literal=True,
    )
    capacity, allocatable = mapping(status, "capacity"), mapping(status, "allocatable")
    names = list(dict.fromkeys((*capacity, *allocatable)))
    yield DescriptionTable(
        (_("Resource"), _("Capacity"), _("Allocatable")),
        ((text(one), text(capacity.get(one)), text(allocatable.get(one))) for one in names),
        len(names),
        _("Resources"),
    )
    yield Facts(
        (_("Pod address ranges"), texts(spec.get("podCIDRs")) or text(spec.get("podCIDR"))),
        (_("Provider ID"), text(spec.get("providerID"))),
        (_("Machine ID"), text(info.get("machineID"))),
        (_("System UUID"), text(info.get("systemUUID"))),
        (_("Boot ID"), text(info.get("bootID"))),
        (_("Operating system type"), text(info.get("operatingSystem"))),
        (
            _("Attached volumes"),
            [text(one.get("name")) for one in mappings_at(status, "volumesAttached")],
        ),
        title=_("System"),
    )
