"""`quarterdeck doctor`: compare permission decisions with the cluster, and check the configuration."""

import argparse
import socket
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from accounts.oauth import kubesphere_config
from accounts.oauth.options import CLUSTER, FILE, SHARED_SETTINGS, config_path, options
from console.kube.compatibility import (
    NEWEST,
    OLDEST,
    Limitation,
    ServerVersion,
    release_text,
)
from console.kube.credentials import NoCluster
from console.kube.errors import ApiError
from console.kube.gvr import NAMESPACES, NODES
from console.kube.runtime import Runtime
from console.proxying.address import ProxyBase
from console.ui.core.registry import kinds
from rbac.authorizer import SOURCES
from rbac.decision_comparison import Disagreement, compare, random_questions
from workspaces.kubesphere_check import kubesphere_findings

#: Seconds to wait for each resource type.
TIMEOUT = 60.0


class Command(BaseCommand):
    help = "Compare permissions with kube-apiserver, and check its version and the configured addresses."
    requires_system_checks = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--questions", type=int, default=1000, help="number of decisions (1000)"
        )
        parser.add_argument("--seed", type=int, default=0, help="random seed (0)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            runtime = Runtime()
        except NoCluster as error:
            raise CommandError(str(error)) from error
        runtime.start()
        try:
            count = max(0, options["questions"])
            examining = _examine(runtime, count=count, seed=options["seed"])
            asked, found = runtime.spawn(examining).result()
            server = tuple(server_lines(runtime.served.version, runtime.served.limitations))
            left = runtime.spawn(kubesphere_findings(runtime)).result()
        except ApiError as error:
            raise CommandError(f"The cluster is not available: {error}") from error
        finally:
            runtime.stop()
        for line in (*server, *configuration(), *left):
            self.stdout.write(line)
        if not runtime.tokens_expire:
            self.stdout.write(
                "The console's tokens do not expire, or all three identities share a credential. "
                "`quarterdeck install` writes a kubeconfig that requests tokens for one hour"
            )
        for differing in found:
            self.stdout.write(str(differing))
        if is_node(runtime, str(urlsplit(settings.BASE_URL).hostname)):
            raise CommandError(
                "BASE_URL is a node of the cluster, so programs on other ports of the node receive the "
                "console's cookies. Use a separate host name for the console"
            )
        missing = unresolvable_host(settings.PROXY_BASE)
        if missing:
            raise CommandError(
                f"{missing} does not resolve. Each open port has a host name below PROXY_BASE_URL, "
                "so a wildcard DNS record is required (docs/ports.md)"
            )
        if found:
            raise CommandError(f"{len(found)} of {asked} decisions differ")
        self.stdout.write(f"{asked} decisions are identical")


def server_lines(version: ServerVersion | None, missing: Sequence[Limitation]) -> Iterator[str]:
    """Yield the version of kube-apiserver, whether it is supported, and the missing features."""
    tested = f"{release_text(OLDEST)} to {release_text(NEWEST)}"
    if version is None:
        yield f"The version of Kubernetes could not be read. Supported versions: {tested}"
    elif not version.supported:
        yield f"Kubernetes {version.name} is not supported. Supported versions: {tested}"
    elif version.release > NEWEST:
        yield f"Kubernetes {version.name} is newer than the tested versions, {tested}"
    else:
        yield f"Kubernetes {version.name} is supported (versions {tested})"
    for one in missing:
        word = "Missing protection" if one.protection else "Limitation"
        yield f"{word} before Kubernetes {release_text(one.since)}: {one.text}"
    if any(one.protection for one in missing):
        yield "docs/kubernetes-versions.md describes what you can do about missing protections"


def configuration() -> Iterator[str]:
    """Yield the source of each `authentication` setting, and the problems of the configuration."""
    found, beneath = options(), kubesphere_config.current_config()
    places = {FILE: str(config_path()), CLUSTER: kubesphere_config.SOURCE}
    sources = dict(found.sources)
    if found.identity_providers is not None:
        sources["identityProviders"] = FILE
    elif beneath.oauth.get("identityProviders"):
        sources["identityProviders"] = CLUSTER
    for name in (*SHARED_SETTINGS, "identityProviders"):
        yield f"{name}: {places.get(sources.get(name, ''), 'the default')}"
    for problem in found.problems:
        yield f"Invalid setting: {problem}"


def is_node(runtime: Runtime, host: str) -> bool:
    """Return True if `host` is a node of the cluster.

    Cookies are shared by all ports of a host (RFC 6265, section 8.5), and NodePorts listen on
    every node.
    """
    nodes = [
        entry.projection for entry in runtime.informer(NODES).store.snapshot().entries.values()
    ]
    return any(host in (node.name, node.internal_ip, node.external_ip) for node in nodes)


def unresolvable_host(base: ProxyBase | None) -> str:
    """Return a host name below `base` that DNS doesn't resolve, or "" if names resolve.

    Browsers resolve names below `localhost` themselves. The settings check that the host differs
    from the console's host.
    """
    if base is None or base.name.endswith(".localhost"):
        return ""
    host = f"{'0' * 32}.{base.name}"
    try:
        socket.getaddrinfo(host, base.port)
    except OSError:
        return host
    return ""


async def _examine(runtime: Runtime, *, count: int, seed: int) -> tuple[int, list[Disagreement]]:
    """Return the number of comparisons and the disagreements."""
    await kubesphere_config.read_config(runtime.console, runtime.clock, TIMEOUT)
    for gvr in (*SOURCES, NAMESPACES, NODES):
        if not await runtime.wait_synced(gvr, timeout=TIMEOUT):
            raise CommandError(f"{gvr.qualified} could not be listed within {TIMEOUT:g} s")
    await runtime.served.tried.wait()
    asked = random_questions(runtime, (kind.gvr for kind in kinds), count, seed)
    return len(asked), await compare(runtime, asked)
