"""What is the same of everything that makes pods, as `kubectl get -o wide` shows it."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.ui.columns.texts import ListColumn, TextColumn


@dataclass(frozen=True, kw_only=True)
class ContainersColumn(ListColumn):
    """The names of the projection's `containers`."""

    id: str = "containers"
    label: str | Promise = _("Containers")
    priority: int = 4


@dataclass(frozen=True, kw_only=True)
class ImagesColumn(ListColumn):
    """The projection's `images`."""

    id: str = "images"
    label: str | Promise = _("Images")
    priority: int = 3


@dataclass(frozen=True, kw_only=True)
class SelectorColumn(TextColumn):
    """The projection's `selector`, in Kubernetes' own syntax."""

    id: str = "selector"
    label: str | Promise = _("Selector")
    priority: int = 4
