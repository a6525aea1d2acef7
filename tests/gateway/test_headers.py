"""Headers that are passed on, and those that are not."""

from console.gateway.headers import request_headers, response_headers

RAW = [
    (b"host", b"console.example.com"),
    (b"accept", b"application/json;as=Table"),
    (b"accept-encoding", b"gzip"),
    (b"authorization", b"Bearer secret"),
    (b"cookie", b"quarterdeck=secret"),
    (b"connection", b"keep-alive"),
    (b"content-type", b"application/apply-patch+yaml"),
    (b"content-length", b"5"),
    (b"impersonate-user", b"bob"),
    (b"origin", b"https://console.example.com"),
    (b"x-forwarded-for", b"10.1.1.1"),
    (b"audit-id", b"chosen"),
    (b"sec-fetch-site", b"none"),
    (b"te", b"trailers"),
    (b"user-agent", b"kubectl"),
    (b"x-stream-protocol-version", b"v5.channel.k8s.io"),
    (b"x-stream-protocol-version", b"v4.channel.k8s.io"),
]


def test_requests_keep_what_describes_them() -> None:
    assert request_headers(RAW) == [
        ("accept", "application/json;as=Table"),
        ("accept-encoding", "gzip"),
        ("content-type", "application/apply-patch+yaml"),
        ("user-agent", "kubectl"),
        ("x-stream-protocol-version", "v5.channel.k8s.io"),
        ("x-stream-protocol-version", "v4.channel.k8s.io"),
    ]


def test_upgrades_keep_the_origin_and_name_the_protocol() -> None:
    sent = dict(request_headers(RAW, upgrade="websocket"))
    assert sent["origin"] == "https://console.example.com"
    assert (sent["connection"], sent["upgrade"]) == ("Upgrade", "websocket")


def test_cookies_and_policies_of_responses_are_removed() -> None:
    returned = response_headers(
        [
            ("Content-Type", "text/html"),
            ("Content-Length", "5"),
            ("Audit-Id", "x"),
            ("Warning", '299 - "deprecated"'),
            ("Set-Cookie", "quarterdeck=x"),
            ("Access-Control-Allow-Origin", "*"),
            ("Strict-Transport-Security", "max-age=1"),
            ("Content-Security-Policy", "default-src *"),
            ("Transfer-Encoding", "chunked"),
            ("Connection", "close"),
        ]
    )
    names = [name for name, _value in returned]
    assert names[:4] == [b"content-type", b"content-length", b"audit-id", b"warning"]
    assert dict(returned)[b"content-security-policy"].endswith(b"sandbox")
    assert len(set(names)) == len(names)
    assert not {b"set-cookie", b"access-control-allow-origin", b"connection"} & set(names)
