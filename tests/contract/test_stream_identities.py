"""Streaming requests and websockets use the user's exact identity, like short requests, for user
names with any characters.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from console.kube.clients import UserClient
from console.kube.credentials import Credentials
from console.kube.errors import ApiError, Forbidden, NotFound
from console.kube.gvr import PODS
from console.kube.identity import Identity
from console.kube.transport import Transport
from tests.contract.cleanup import Cleanup
from tests.contract.cluster import Cluster
from tests.contract.grants import Grants, group, rule
from tests.contract.objects import unique
from tests.support.depth import number

#: Valid usernames. They are transmitted unchanged or rejected, see `Identity`.
NAMES = ("ann", "Ann", "ann,bob", "ann bob", "a: b", 'a"b', "a\\b", "a%2Cb", "a;b=c", "n" * 253)
#: Number of requests per user and kind of stream.
TURNS = number(1, 4)
Opened = AbstractAsyncContextManager[object]


def log(client: UserClient, path: str) -> Opened:
    return client.stream(f"{path}/log")


def command(client: UserClient, path: str) -> Opened:
    query = [("command", "true"), ("stdout", "true")]
    return client.connect(f"{path}/exec", ["v5.channel.k8s.io"], query)


def forwarded(client: UserClient, path: str) -> Opened:
    return client.connect(f"{path}/portforward", ["v4.channel.k8s.io"], [("ports", "80")])


def page(client: UserClient, path: str) -> Opened:
    return client.proxy("GET", f"{path}/proxy/", headers=())


def socket(client: UserClient, path: str) -> Opened:
    return client.relay(f"{path}/proxy/", (), ())


WAYS = (log, command, forwarded, page, socket)


@pytest.fixture
async def transport(cluster: Cluster) -> AsyncIterator[Transport]:
    found = Transport(Credentials("admin", str(cluster.kubeconfig)))
    yield found
    await found.close()


async def refused(opened: Opened) -> ApiError:
    with pytest.raises(ApiError) as error:
        async with opened:
            pass
    return error.value


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
async def test_the_user_name_is_transmitted_unchanged(
    transport: Transport, namespace: str, way: Callable[[UserClient, str], Opened], name: str
) -> None:
    path = PODS.path(namespace, "none")
    error = await refused(way(UserClient(transport, Identity(name)), path))
    assert isinstance(error, Forbidden)
    assert f"User {json.dumps(name)} cannot " in error.message


@pytest.mark.parametrize("name", NAMES)
async def test_the_group_name_is_transmitted_unchanged(
    transport: Transport, namespace: str, cleanup: Cleanup, name: str
) -> None:
    """Members of the group get 404 for the missing pod; other users get 403."""
    grants = Grants(cleanup, namespace)
    team = f"{unique('team')}{name}"[:253]
    parts = "pods/log pods/exec pods/portforward pods/proxy"
    grants.here(group(team), rule("get create", parts))
    grants.wait("ann", [team], namespace=namespace, verb="get", resource="pods", subresource="log")
    path = PODS.path(namespace, "none")
    for way in WAYS:
        error = await refused(way(UserClient(transport, Identity("ann", ("x", team))), path))
        assert isinstance(error, NotFound), (way, error)
        others = Identity("ann", tuple(team.split(",")) if "," in team else (team[1:],))
        assert isinstance(await refused(way(UserClient(transport, others), path)), Forbidden)


async def test_shared_connections_keep_identities_separate(
    transport: Transport, namespace: str
) -> None:
    """Fifty concurrent users with every kind of stream: each error names the requesting user."""
    path = PODS.path(namespace, "none")

    async def ask(name: str) -> None:
        client = UserClient(transport, Identity(name, (f"group-of-{name}",)))
        for turn in range(TURNS * len(WAYS)):
            error = await refused(WAYS[turn % len(WAYS)](client, path))
            assert isinstance(error, Forbidden)
            assert f'User "{name}" cannot ' in error.message

    await asyncio.gather(*(ask(f"person-{n}") for n in range(50)))
