"""`manage.py doctor`: does the console decide as the cluster does, and is it where it must be?"""

import argparse
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from accounts.oauth import kubesphere_config
from accounts.oauth.options import CLUSTER, FILE, SHARED_SETTINGS, config_path, options
from console.kube.credentials import NoCluster
from console.kube.errors import ApiError
from console.kube.gvr import NAMESPACES, NODES
from console.kube.runtime import Runtime
from console.proxying.address import ProxyBase
from console.ui.registry import kinds
from rbac.authorizer import SOURCES
from rbac.comparing import Disagreement, compare, questions
from workspaces.leftovers import leftovers

#: Seconds for each thing that the answers come from.
TIMEOUT = 60.0


class Command(BaseCommand):
    help = "Compare the console's permissions with kube-apiserver's, and look at its addresses."
    requires_system_checks = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--questions", type=int, default=1000, help="how many (1000)")
        parser.add_argument("--seed", type=int, default=0, help="which ones (0)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            runtime = Runtime()
        except NoCluster as error:
            raise CommandError(str(error)) from error
        runtime.start()
        try:
            asked, found = runtime.spawn(_examine(runtime, **_chosen(options))).result()
            left = runtime.spawn(leftovers(runtime)).result()
        except ApiError as error:
            raise CommandError(f"The cluster cannot be asked: {error}") from error
        finally:
            runtime.stop()
        for line in (*configuration(), *left):
            self.stdout.write(line)
        if not runtime.tokens_end:
            self.stdout.write(
                "The console's tokens do not end, or one credential serves as all three identities: "
                "`manage.py install` writes a kubeconfig that asks for tokens of an hour"
            )
        for differing in found:
            self.stdout.write(str(differing))
        if is_node(runtime, str(urlsplit(settings.BASE_URL).hostname)):
            raise CommandError(
                "BASE_URL is a node of the cluster: whatever listens on one of its ports gets the "
                "console's cookies. Give the console a host name of its own"
            )
        missing = without_address(settings.PROXY_BASE)
        if missing:
            raise CommandError(
                f"{missing} has no address: each port that is opened gets a name below PROXY_BASE_URL, "
                "so all of these need one (docs/ports.md)"
            )
        if found:
            raise CommandError(f"{len(found)} of {asked} answers differ")
        self.stdout.write(f"{asked} answers are the same")


def configuration() -> Iterator[str]:
    """Where each setting of `authentication` comes from, and what is wrong with them."""
    found, beneath = options(), kubesphere_config.found()
    places = {FILE: str(config_path()), CLUSTER: kubesphere_config.SOURCE}
    sources = dict(found.sources)
    if found.identity_providers is not None:
        sources["identityProviders"] = FILE
    elif beneath.oauth.get("identityProviders"):
        sources["identityProviders"] = CLUSTER
    for name in (*SHARED_SETTINGS, "identityProviders"):
        yield f"{name}: {places.get(sources.get(name, ''), 'the default')}"
    for problem in found.problems:
        yield f"Not as it is written: {problem}"


def is_node(runtime: Runtime, host: str) -> bool:
    """Cookies do not know ports (RFC 6265, section 8.5), and a NodePort is on every node."""
    nodes = [
        entry.projection for entry in runtime.informer(NODES).store.snapshot().entries.values()
    ]
    return any(host in (node.name, node.internal_ip, node.external_ip) for node in nodes)


def without_address(base: ProxyBase | None) -> str:
    """A host of an opened port that nobody would find; "" if all is well. Browsers find what is below
    localhost by themselves. That it is another host than the console's is looked at by the settings."""
    if base is None or base.name.endswith(".localhost"):
        return ""
    host = f"{'0' * 32}.{base.name}"
    try:
        socket.getaddrinfo(host, base.port)
    except OSError:
        return host
    return ""


def _chosen(options: dict[str, Any]) -> dict[str, int]:
    return {"count": max(0, options["questions"]), "seed": options["seed"]}


async def _examine(runtime: Runtime, *, count: int, seed: int) -> tuple[int, list[Disagreement]]:
    """How many questions there were, and what differed."""
    await kubesphere_config.look(runtime.console, runtime.clock, TIMEOUT)
    for gvr in (*SOURCES, NAMESPACES, NODES):
        if not await runtime.wait_synced(gvr, timeout=TIMEOUT):
            raise CommandError(f"No list of {gvr.qualified} within {TIMEOUT:g} s")
    asked = questions(runtime, (kind.gvr for kind in kinds), count, seed)
    return len(asked), await compare(runtime, asked)
