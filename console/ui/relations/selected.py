"""The pods that an object selects by labels."""

from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from console.kube.gvr import PODS
from console.ui.panels import Panel
from console.ui.relations.seeing import VisibleType
from console.ui.relations.selecting import pods_selected
from console.ui.subject import Subject


@dataclass(frozen=True, kw_only=True)
class SelectedPodsPanel(Panel):
    """Selected pods of kinds with a pod selector."""

    id: str = "selected"
    title: str | Promise = gettext_lazy("Pods")
    also = (PODS,)

    def html(self, subject: Subject) -> SafeString:
        seeing, namespace = VisibleType(subject, PODS), subject.key.namespace
        selector = subject.kind.pod_selector(subject.entry)
        if (
            seeing.informer is None
            or selector is None
            or not seeing.readable.may_include(namespace)
        ):
            return SafeString("")
        found = seeing.only_visible(pods_selected(selector, namespace, seeing.informer))
        url = seeing.all_url(("namespace", namespace), ("label", str(selector)))
        groups = [seeing.group(found, url)]
        return render_to_string("ui/relations/groups.html", {"groups": groups})
