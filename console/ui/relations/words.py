"""Descriptions of references between objects."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR
from console.ui.registry import kinds
from console.ui.text import escape_invisible

#: Texts by `Reference.how`.
HOW: dict[str, str | Promise] = {
    "account": gettext_lazy("runs as"),
    "backend": gettext_lazy("sends traffic to"),
    "bound": gettext_lazy("bound to"),
    "certificate": gettext_lazy("certificate"),
    "class": gettext_lazy("class"),
    "dns": gettext_lazy("DNS names of pods"),
    "endpoints": gettext_lazy("endpoints of"),
    "env": gettext_lazy("environment of"),
    "env-from": gettext_lazy("environment of"),
    "gateway": gettext_lazy("attached to"),
    "node": gettext_lazy("runs on"),
    "priority": gettext_lazy("priority"),
    "pull": gettext_lazy("image pull secret"),
    "role": gettext_lazy("grants"),
    "scales": gettext_lazy("scales"),
    "secret": gettext_lazy("token or password"),
    "source": gettext_lazy("copy of"),
    "subject": gettext_lazy("grants to"),
    "volume": gettext_lazy("volume"),
}


def how_text(how: str, where: str = "") -> str:
    """Return a description such as `volume config`, or "" if the reference needs none."""
    return f"{HOW.get(how, '')} {escape_invisible(where)}".strip()


def title_of(gvr: GVR) -> str | Promise:
    """Return the title of a kind, or the Kubernetes resource name for types without pages."""
    kind = kinds.by_type(gvr)
    return kind.title if kind is not None else gvr.resource


def singular_of(gvr: GVR) -> str | Promise:
    """Return the singular of a kind, or the Kubernetes resource name for types without pages."""
    kind = kinds.by_type(gvr)
    return kind.singular if kind is not None else gvr.resource
