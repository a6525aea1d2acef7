"""The fault-injecting proxy in front of kube-apiserver."""

import http.client
import ssl
from collections.abc import Iterator

import pytest

from tests.controlplane.api import Api
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.proxy import CuttingProxy, refusal

CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"


@pytest.fixture
def proxy(control_plane: ControlPlane) -> Iterator[CuttingProxy]:
    with CuttingProxy(control_plane) as proxy:
        yield proxy


@pytest.fixture
def api(control_plane: ControlPlane, proxy: CuttingProxy) -> Api:
    """Client that connects through the proxy as a user with access to API discovery only."""
    tls = ssl.create_default_context(cafile=str(control_plane.ca_file))
    return Api(proxy.url, tls, control_plane.token("stranger"))


def test_requests_are_forwarded_and_recorded(api: Api, proxy: CuttingProxy) -> None:
    assert api.get("/apis").status == 200
    assert api.get(f"{CONFIG_MAPS}?limit=1").status == 403
    assert [(one.verb, one.status) for one in proxy.seen] == [("get", 200), ("probe", 403)]


def test_a_script_replaces_responses(api: Api, proxy: CuttingProxy) -> None:
    busy = refusal(429, "TooManyRequests", retry_after=3)
    proxy.answer(lambda seen: busy if seen.path == "/apis" else None)
    assert api.get("/apis").json()["details"] == {"retryAfterSeconds": 3}
    assert api.get("/api").status == 200
    proxy.heal()
    assert api.get("/apis").status == 200


def test_a_connection_is_reset_after_the_given_number_of_bytes(
    api: Api, proxy: CuttingProxy
) -> None:
    whole = len(api.get("/apis").body)
    proxy.cut(after=whole // 2)
    with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
        api.get("/apis")
    proxy.heal()
    assert len(api.get("/apis").body) == whole


@pytest.mark.parametrize(("piece", "hold"), [(1, 0.0), (100, 0.01)])
def test_delivery_in_pieces_does_not_change_responses(
    api: Api, proxy: CuttingProxy, piece: int, hold: float
) -> None:
    whole = api.get("/apis").body
    proxy.deliver(piece=piece, hold=hold)
    assert api.get("/apis").body == whole


def test_refused_and_half_open_connections_recover_after_heal(
    api: Api, proxy: CuttingProxy
) -> None:
    proxy.refuse()
    with pytest.raises(ConnectionRefusedError):
        api.get("/apis")
    proxy.accept()
    proxy.swallow()
    with pytest.raises(TimeoutError):
        api.request("GET", "/apis", timeout=0.5)
    proxy.heal()
    assert api.get("/apis").status == 200
