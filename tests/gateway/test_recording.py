"""Which requests have an audit record, and the names of new objects."""

import pytest

from console.gateway.recording import _parse, is_recorded
from console.gateway.requestinfo import read_request


@pytest.mark.parametrize(
    ("method", "address", "body", "recorded"),
    [
        ("POST", "/api/v1/namespaces/shop/pods", b"{}", True),
        ("POST", "/api/v1/namespaces/shop/pods?dryRun=All", b"{}", False),
        ("DELETE", "/api/v1/namespaces/shop/pods/web", b"", True),
        ("DELETE", "/api/v1/namespaces/shop/pods/web", b'{"dryRun":["All"]}', False),
        ("DELETE", "/api/v1/namespaces/shop/pods/web", b'{"dryRun":null}', True),
        ("GET", "/api/v1/namespaces/shop/pods/web/exec", b"", True),
        ("GET", "/api/v1/namespaces/shop/pods/web/log", b"", True),
        ("GET", "/api/v1/secrets", b"", True),
        ("GET", "/api/v1/pods?watch=1", b"", False),
        ("GET", "/api", b"", False),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", b"{}", False),
        ("POST", "/api/v1/namespaces/shop/serviceaccounts/x/token", b"{}", True),
    ],
)
def test_changes_connections_logs_and_secrets_are_recorded(
    method: str, address: str, body: bytes, recorded: bool
) -> None:
    path, _mark, query = address.partition("?")
    assert is_recorded(read_request(method, path.encode(), query.encode()), body) is recorded


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b'{"metadata":{"name":"web"}}', "web"),
        (b'{"metadata":null}', ""),
        (b"kind: Pod", ""),
        (b"k8s\x00\x0a\x02v1\x12\x07\x0a\x05\x0a\x03web", "web"),
        (b"k8s\x00\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", ""),
        (b"k8s\x00\x12\x05\x0a", ""),
        (b"k8s\x00" + b"\xff" * 1000, ""),
        (b"k8s\x00", ""),
        (b"[" * 10_000, ""),
    ],
)
def test_the_name_of_a_new_object_is_read_from_its_body(body: bytes, name: str) -> None:
    metadata = _parse(body).metadata
    assert (metadata.name if metadata is not None else "") == name
