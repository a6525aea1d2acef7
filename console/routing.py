"""URL patterns of the websockets. All other URLs are refused during the handshake."""

from channels.routing import URLRouter
from django.urls import path, re_path

from console.files.consumer import UploadConsumer
from console.live.consumer import LiveConsumer, RefuseConsumer
from console.logs.consumer import LogConsumer
from console.terminals.consumer import TerminalConsumer

websocket_urlpatterns = [
    path("ws/live", LiveConsumer.as_asgi()),
    path(
        "ws/clusters/<str:cluster>/projects/<str:namespace>/<str:resource>/<str:name>/log",
        LogConsumer.as_asgi(),
    ),
    path("ws/clusters/<str:cluster>/projects/<str:namespace>/log", LogConsumer.as_asgi()),
    path(
        "ws/clusters/<str:cluster>/projects/<str:namespace>/pods/<str:name>/terminal",
        TerminalConsumer.as_asgi(),
    ),
    path(
        "ws/clusters/<str:cluster>/projects/<str:namespace>/pods/<str:name>/files",
        UploadConsumer.as_asgi(),
    ),
    re_path("", RefuseConsumer.as_asgi()),
]
websocket_application = URLRouter(websocket_urlpatterns)
