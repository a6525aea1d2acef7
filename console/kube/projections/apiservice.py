"""APIServices, which register aggregated API servers. Only their changes matter.

https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/api-service-v1/
"""

from console.kube.gvr import API_SERVICES
from console.kube.projections.common import Decoders, Object, Projection, basics, decoder


class APIService(Projection, frozen=True, gc=False):
    pass


def _project(read: Object) -> APIService:
    return APIService(**basics(read.metadata))


DECODERS: Decoders = {API_SERVICES: decoder(Object, _project)}
