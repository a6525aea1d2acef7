"""Addresses of the console's own pages, by the names of `console.views.urls`."""

from django.urls import reverse

from console.kube.gvr import Key

#: The cluster that the console itself is pointed at.
HOST_CLUSTER = "host"


def list_url(cluster: str, segment: str) -> str:
    return reverse("list", args=(cluster, segment))


def action_url(action: str, cluster: str, segment: str, key: Key) -> str:
    """The page that does `action` to one object, for instance `delete`."""
    place = (cluster, key.namespace) if key.namespace else (cluster,)
    return reverse(action, args=(*place, segment, key.name))
