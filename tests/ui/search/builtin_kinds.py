"""The built-in kinds, without custom resources."""

from console.kube.custom_types import CustomTypes
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS
from console.kube.served_types import ServedTypes
from console.ui.core.clusters import Kinds
from console.ui.core.registry import kinds
from tests.support.informers import preloaded

KINDS = Kinds(kinds, ServedTypes(CustomTypes(preloaded(CUSTOM_RESOURCE_DEFINITIONS))))
