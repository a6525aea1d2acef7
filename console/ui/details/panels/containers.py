"""The containers of a pod or of a pod template."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from console.kube.gvr import PODS
from console.ui.core.container_actions import OpenTerminal, ShowLog
from console.ui.core.links import files_url, log_url, terminal_url
from console.ui.core.podspecs import ContainerView, containers_of, ports_of, probes_of, resources_of
from console.ui.core.requests import tab_name
from console.ui.core.subject import Subject
from console.ui.details.descriptions.containers import container as describe
from console.ui.details.panels import NOTHING, Panel


@dataclass(frozen=True, slots=True)
class ContainerLink:
    """A link to a container's log, terminal or files. `dock` is the kind of dock tab, "" for none, and
    `name` the tab's title.
    """

    label: str | Promise
    url: str
    dock: str
    name: str


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
                "sections": [one for one in describe(container.spec, container.status) if one],
                "ways": list(_ways(subject, container)),
            }
            for container in containers_of(subject.manifest)
        ]
        if not found:
            return NOTHING
        return render_to_string("ui/panels/containers.html", {"containers": found})


def _ways(subject: Subject, container: ContainerView) -> Iterator[ContainerLink]:
    """Yield a link to the log if the container has started, and to a shell while it runs."""
    if subject.kind.gvr != PODS:
        return
    began = container.since is not None or container.ended is not None or container.last is not None
    place = (subject.cluster, subject.kind.segment, subject.key)
    for action, there, url in (
        (ShowLog, began, log_url(*place, container.name)),
        (OpenTerminal, container.since is not None, terminal_url(*place, container.name)),
    ):
        offered = subject.kind.actions_by_name.get(action.name)
        if there and offered and offered.is_allowed(subject.access, subject.kind.gvr, subject.key):
            yield ContainerLink(
                action.label, url, action.dock, tab_name(subject.key.name, container.name)
            )
            if action is OpenTerminal:
                # Files need the same permissions.
                name = tab_name(subject.key.name, container.name)
                yield ContainerLink(_("Files"), files_url(*place, container.name), "", name)
