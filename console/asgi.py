"""ASGI entry point of the web process: starts the cluster runtime once and builds the protocol
stack.

Importing this module connects to the configured cluster. Raises `NoCluster` if no cluster is
configured.
"""

import os

from channels.routing import ProtocolTypeRouter
from django.conf import settings

from console.web.handler import make_handler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
django_application = make_handler()

from accounts.oauth.kubesphere_config import current_config, read_periodically  # noqa: E402
from accounts.protection.revocation import RevocationReconciler, clean_periodically  # noqa: E402
from accounts.signin.asgi import SessionAuthMiddleware  # noqa: E402  Django's apps must be ready
from accounts.signin.presence import presence_of_session  # noqa: E402
from console.audit.console_writes import record_console_write  # noqa: E402
from console.audit.trail import set_workspace_finder  # noqa: E402
from console.gateway.application import GatewayApplication  # noqa: E402
from console.kube import controller, gvr  # noqa: E402
from console.kube.prometheus import Prometheus  # noqa: E402
from console.kube.runtime import Runtime  # noqa: E402
from console.mcp.application import McpApplication  # noqa: E402
from console.proxying.application import ProxyApplication  # noqa: E402
from console.proxying.closing import run_closing  # noqa: E402
from console.proxying.store import PortOwner  # noqa: E402
from console.routing import websocket_application  # noqa: E402
from console.terminals.shell_pods import run_cleanup  # noqa: E402
from console.ui.core.requests import UserSession  # noqa: E402
from console.ui.navigation.projects import find_workspace  # noqa: E402
from console.web.hardening import harden  # noqa: E402
from rbac import authorizer, memberships  # noqa: E402
from rbac.process_clusters import set_host_cluster  # noqa: E402
from workspaces.controllers.quota_events import QuotaEventRecorder  # noqa: E402

#: Resources watched from startup: the first group is required to sign in, the rest by the first
#: page.
REQUIRED = (
    *authorizer.SOURCES,
    *memberships.SOURCES,
    gvr.GLOBAL_ROLES,
    gvr.GLOBAL_ROLE_BINDINGS,
    gvr.NAMESPACES,
    gvr.NODES,
    gvr.PODS,
)

runtime = Runtime()
runtime.console.recorder = record_console_write
set_workspace_finder(find_workspace)
runtime.start()
runtime.require(REQUIRED)
set_host_cluster(
    runtime,
    prometheus=Prometheus(lambda: settings.PROMETHEUS_URL or current_config().prometheus_url),
    gpu_kinds=lambda: current_config().gpu_kinds,
)
runtime.spawn(controller.run(runtime, RevocationReconciler(runtime), workers=1))
runtime.spawn(clean_periodically(runtime.clock))
runtime.spawn(read_periodically(runtime))
runtime.on_refusal = QuotaEventRecorder(runtime).record
if settings.NODE_SHELL_NAMESPACE:
    runtime.spawn(run_cleanup(runtime))


def presence_of(owner: PortOwner) -> UserSession:
    return presence_of_session(owner.session, owner.account, owner.as_user)


if settings.PROXY_BASE is not None:
    runtime.spawn(run_closing(runtime, presence_of))

application = harden(
    ProxyApplication(
        McpApplication(
            GatewayApplication(
                ProtocolTypeRouter(
                    {
                        "http": django_application,
                        "websocket": SessionAuthMiddleware(websocket_application),
                    }
                )
            ),
            django_application,
        ),
        presence_of,
    )
)
