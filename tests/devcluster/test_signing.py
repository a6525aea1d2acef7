"""Signing of approved certificate signing requests."""

import base64
import http.client
import json
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from accounts.kubeconfigs.certificates import expires, make_key, make_request
from console.kube.identity import Identity
from devcluster.server import DevCluster
from tests.controlplane.waiting import eventually
from tests.devcluster.conftest import Api, Obj

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
APPROVED = {"type": "Approved", "status": "True", "reason": "x", "message": "x"}


def ask(api: Api, request: bytes, signer: str = "kubernetes.io/kube-apiserver-client") -> None:
    spec: Obj = {
        "request": base64.b64encode(request).decode(),
        "signerName": signer,
        "usages": ["client auth"],
        "expirationSeconds": 3600,
    }
    api.post(REQUESTS, {"metadata": {"name": "one"}, "spec": spec})


def approve(api: Api) -> None:
    status = {"status": {"conditions": [APPROVED]}}
    assert api.call("PATCH", f"{REQUESTS}/one/approval", status)[0] == 200


def test_a_signed_certificate_authenticates_as_its_user_and_groups(
    cluster: DevCluster, api: Api, tmp_path: Path
) -> None:
    key = make_key()
    ask(api, make_request(key, Identity("ann", ("red", "blue"))))
    assert "certificate" not in (api.get(f"{REQUESTS}/one").get("status") or {})
    approve(api)
    signed = eventually(
        lambda: api.get(f"{REQUESTS}/one")["status"].get("certificate"), "a certificate is issued"
    )
    certificate = base64.b64decode(signed).decode()
    left = expires(certificate) - datetime.now(UTC)
    assert timedelta(minutes=58) < left <= timedelta(hours=1)
    files = tmp_path / "ann.crt", tmp_path / "ann.key"
    files[0].write_text(certificate)
    files[1].write_text(key)
    tls = ssl.create_default_context(cafile=str(cluster.ca_file))
    tls.load_cert_chain(*files)
    connection = http.client.HTTPSConnection("127.0.0.1", cluster.port, timeout=20, context=tls)
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    headers = {"Content-Type": "application/json", "Connection": "close"}
    connection.request("POST", path, json.dumps(review), headers)
    info = json.loads(connection.getresponse().read())["status"]["userInfo"]
    assert info["username"] == "ann"
    assert {*info["groups"]} == {"red", "blue", "system:authenticated"}
    connection.close()


@pytest.mark.parametrize("request_", [b"", b"no request", b"\xff"])
def test_a_malformed_request_gets_the_failed_condition(api: Api, request_: bytes) -> None:
    ask(api, request_)
    approve(api)

    def conditions() -> list[str]:
        status = api.get(f"{REQUESTS}/one")["status"]
        assert "certificate" not in status
        return [one["type"] for one in status["conditions"]]

    eventually(lambda: conditions() == ["Approved", "Failed"], "the request fails")


def test_requests_for_other_signers_are_not_signed(cluster: DevCluster, api: Api) -> None:
    ask(api, make_request(make_key(), Identity("ann")), "example.com/mine")
    approve(api)
    cluster.wait_until_idle()
    assert "certificate" not in api.get(f"{REQUESTS}/one")["status"]
