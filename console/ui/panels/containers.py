"""The containers of a pod, and those that a template makes."""

from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from console.ui.panels import NOTHING, Panel
from console.ui.podspecs import containers_of, ports_of, probes_of, resources_of
from console.ui.subject import Subject


@dataclass(frozen=True, kw_only=True)
class ContainersPanel(Panel):
    id: str = "containers"
    title: str | Promise = _("Containers")

    def html(self, subject: Subject) -> SafeString:
        found = [
            {
                "container": container,
                "ports": ports_of(container.spec),
                "resources": resources_of(container.spec),
                "probes": probes_of(container.spec),
            }
            for container in containers_of(subject.manifest)
        ]
        if not found:
            return NOTHING
        return render_to_string("ui/panels/containers.html", {"containers": found})
