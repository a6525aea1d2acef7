"""What stands in addresses, as what it means."""

from django.urls import register_converter
from django.urls.converters import StringConverter

from console.ui.clusters import Cluster, clusters


class ClusterConverter(StringConverter):
    """`<cluster:cluster>`. A name that no cluster has is None, and not another address: whoever is not
    signed in must get the same answer for every name. Middleware makes a 404 of it."""

    def to_python(self, value: str) -> Cluster | None:  # type: ignore[override]
        return clusters.get(value)

    def to_url(self, value: Cluster | str) -> str:
        """Of a cluster or of its name."""
        return value.name if isinstance(value, Cluster) else value


register_converter(ClusterConverter, "cluster")
