"""URL path converters."""

from django.urls import register_converter
from django.urls.converters import StringConverter

from console.ui.clusters import Cluster, clusters


class ClusterConverter(StringConverter):
    """Converter for `<cluster:cluster>`.

    An unknown name becomes None and still matches, so that users who are not signed in get the
    same response for every name. Middleware turns None into a 404.
    """

    def to_python(self, value: str) -> Cluster | None:  # type: ignore[override]
        return clusters.get(value)

    def to_url(self, value: Cluster | str) -> str:
        """Accept a cluster or its name."""
        return value.name if isinstance(value, Cluster) else value


register_converter(ClusterConverter, "cluster")
