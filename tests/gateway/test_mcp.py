"""The endpoint for assistants: its tools, and who may use them."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.controlplane.waiting import eventually
from tests.gateway.assistant import Assistant, Mode
from tests.gateway.demo import Demo, Reply, download

pytestmark = pytest.mark.programs

READING = {"search", "list", "describe", "logs", "events", "explain_problems"}
DEPLOYMENT = {"kind": "deployments", "namespace": "payments", "name": "fraud-scorer"}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "list", "arguments": {"kind": "pods"}},
}


@pytest.fixture(params=["admin", "alice"])
def assistant(request: pytest.FixtureRequest, demo: Demo) -> Assistant:
    return Assistant(demo, demo.token(request.param))


def post(demo: Demo, *lines: str, body: Any = CALL, user: str = "admin") -> Reply:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    accept = "Accept: application/json, text/event-stream"
    return demo.send("POST", "/mcp", accept, *lines, user=user, body=content)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_clients_of_both_protocol_eras_list_the_tools(demo: Demo, mode: Mode) -> None:
    tools = Assistant(demo, demo.token("alice"), mode).tools()
    assert set(tools) == READING | {"propose_change"}
    for tool in tools.values():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (tool.name in READING)
        assert tool.input_schema["additionalProperties"] is False


def test_search_finds_objects_of_all_kinds(assistant: Assistant) -> None:
    found = json.loads(assistant.call("search", query="fraud-scorer"))
    assert {"deployments", "pods"} <= {group["resource"] for group in found["groups"]}


def test_a_list_has_the_columns_of_the_page(assistant: Assistant) -> None:
    selector = "app.kubernetes.io/name=fraud-scorer"
    text = assistant.call("list", kind="Deployment", namespace="payments", selector=selector)
    (item,) = json.loads(text)["items"]
    assert (item["name"], item["status"]["word"]) == ("fraud-scorer", "Stuck rollout")
    some = assistant.call("list", kind="deploy", namespace="payments", limit=2, page=2)
    assert len(json.loads(some)["items"]) == 2 < json.loads(some)["total"]


def test_a_description_contains_the_cause_and_the_manifest(assistant: Assistant) -> None:
    found = json.loads(assistant.call("describe", **DEPLOYMENT))
    assert "it exceeded its memory limit" in found["cause"]["text"]
    assert found["manifest"]["spec"]["replicas"] == 2
    assert found["url"].endswith("/projects/payments/deployments/fraud-scorer")


def test_logs_are_bounded(demo: Demo, assistant: Assistant) -> None:
    lines = assistant.call("logs", **DEPLOYMENT, lines=3).splitlines()
    assert 3 <= len(lines) <= 6
    selector = "app.kubernetes.io/name=fraud-scorer"
    found = assistant.call("logs", namespace="payments", selector=selector, text="limit is near")
    assert "limit is near" in found
    assert len(assistant.call("logs", **DEPLOYMENT, lines=2000)) < 101_000
    assert "2000" in assistant.refusal("logs", **DEPLOYMENT, lines=2001)
    assert "name or a selector" in assistant.refusal("logs", namespace="payments")


def test_problems_are_explained(assistant: Assistant) -> None:
    found = json.loads(assistant.call("explain_problems", namespace="payments"))
    (problem,) = found["problems"]
    assert "it exceeded its memory limit" in problem["cause"]
    one = json.loads(assistant.call("explain_problems", **DEPLOYMENT))
    assert one["problems"] == [problem]
    assert one["status"]["word"] == "Stuck rollout"
    assert {"Available", "Progressing"} <= {each["type"] for each in one["conditions"]}


def test_events_of_an_object_are_listed(demo: Demo) -> None:
    admin = demo.kubectl(demo.kubeconfig("admin"), "payments")
    admin("create", "-f", "-", input=json.dumps(event("fraud-scorer", "Noticed by the test")))
    for user in ("admin", "alice"):
        assistant = Assistant(demo, demo.token(user))
        found = json.loads(assistant.call("events", **DEPLOYMENT))
        assert [item["message"] for item in found["items"]] == ["Noticed by the test"]
        described = json.loads(assistant.call("describe", **DEPLOYMENT))
        assert described["events"] == found["items"]


def event(name: str, message: str) -> dict[str, Any]:
    about = {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "payments", "name": name}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": "test-"},
        "involvedObject": about,
        "type": "Warning",
        "reason": "Test",
        "message": message,
        "firstTimestamp": "2099-01-01T00:00:00Z",
        "lastTimestamp": "2099-01-01T00:00:00Z",
    }


# Permissions and leaks


def test_a_tenant_sees_nothing_of_other_projects(demo: Demo) -> None:
    alice = Assistant(demo, demo.token("alice"))
    secret = {"namespace": "kube-system", "kind": "pods", "name": "coredns-0"}
    assert "permission" in alice.refusal("list", kind="pods", namespace="kube-system")
    assert "permission" in alice.refusal("list", kind="nodes")
    existing = json.loads(Assistant(demo, demo.token("admin")).call("list", kind="nodes"))
    name = existing["items"][0]["name"]
    answers = {alice.refusal("describe", kind="nodes", name=one) for one in (name, "no-such")}
    assert len(answers) == 1
    for tool in ("describe", "logs", "explain_problems"):
        assert "permission" in alice.refusal(tool, **secret)
    assert "permission" in alice.refusal("explain_problems", namespace="kube-system")
    assert json.loads(alice.call("search", query="coredns"))["total"] == 0
    assert name not in alice.call("explain_problems")


CANARY = "canary-8f2c1d"
CANARY_BASE64 = "Y2FuYXJ5LThmMmMxZA=="


def test_values_of_secrets_are_never_returned(demo: Demo) -> None:
    admin = demo.kubectl(demo.kubeconfig("admin"), "payments")
    admin("create", "secret", "generic", "canary", f"--from-literal=token={CANARY}")
    place = {"kind": "secrets", "namespace": "payments"}
    changes: list[dict[str, Any]] = [
        {"patch": {"type": "example.com/other"}, "name": "canary", **place},
        {"patch": {"metadata": {"labels": {"a": "b"}}}, "name": "canary", **place},
        {"manifest": json.dumps(secret({"more": "eA=="})), "namespace": "payments"},
        {"manifest": json.dumps(secret({"more": "not base64"})), "namespace": "payments"},
    ]
    for user in ("admin", "alice"):
        assistant = Assistant(demo, demo.token(user))
        texts = [
            assistant.call("describe", **place, name="canary"),
            assistant.call("explain_problems", **place, name="canary"),
            assistant.call("list", **place),
            assistant.call("search", query="canary"),
            assistant.attempt("search", query=CANARY)[1],
            assistant.attempt("list", **place, text=CANARY_BASE64)[1],
            *(assistant.attempt("propose_change", reason="x", **one)[1] for one in changes),
        ]
        for text in texts:
            shown = text.replace(f'"query":"{CANARY}"', "")
            assert CANARY not in shown
            assert CANARY_BASE64 not in shown


def secret(data: dict[str, str]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "canary"}, "data": data}


def test_log_reads_are_recorded_and_other_reads_are_not(demo: Demo) -> None:
    before = len(demo.records())
    alice = Assistant(demo, demo.token("alice"))
    alice.call("list", kind="pods", namespace="payments")
    alice.call("describe", **DEPLOYMENT)
    assert len(demo.records()) == before
    alice.call("logs", **DEPLOYMENT, lines=1)
    added = demo.records()[before:]
    assert {(one["actor"], one["verb"], one["subresource"]) for one in added} == {
        ("alice", "get", "log")
    }
    assert {one["origin"] for one in added} == {"token"}


# Protocol and hostile input


def test_requests_without_a_token_are_challenged(demo: Demo) -> None:
    reply = post(demo, user="")
    assert (reply.status, reply.object["kind"]) == (401, "Status")
    assert reply.headers["www-authenticate"] == 'Bearer realm="Quarterdeck"'
    wrong = post(demo, "Authorization: Bearer qdt_wrong", user="")
    assert (wrong.status, "invalid_token" in wrong.headers["www-authenticate"]) == (401, True)


def test_a_session_is_not_accepted(demo: Demo) -> None:
    cookie = "; ".join(f"{one.name}={one.value}" for one in demo.visitor("admin").cookies)
    assert post(demo, f"Cookie: {cookie}", f"Origin: {demo.url}", user="").status == 401


@pytest.mark.parametrize("origin", ["https://elsewhere.example.com", "null", "http://localhost:1"])
def test_pages_of_other_sites_are_refused(demo: Demo, origin: str) -> None:
    assert post(demo, f"Origin: {origin}").status == 403
    assert post(demo, f"Origin: {demo.url}").status == 200


def test_only_post_is_supported(demo: Demo) -> None:
    for method in ("GET", "DELETE", "PUT", "OPTIONS"):
        reply = demo.send(method, "/mcp")
        assert (reply.status, reply.headers["allow"]) == (405, "POST")


def test_the_response_has_the_headers_of_the_gateway(demo: Demo) -> None:
    headers = post(demo).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert "no-store" in headers["cache-control"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + b'{"a":' * 5_000,
        [CALL, CALL],
        {"jsonrpc": "2.0", "id": 1, "method": "no/such"},
        {"jsonrpc": "2.0", "id": {}, "method": "tools/list"},
        {"jsonrpc": "1.0", "id": 1, "method": "tools/list"},
        {**CALL, "params": {"name": "no_such", "arguments": {}}},
        {**CALL, "params": {"name": ["list"], "arguments": {}}},
        {**CALL, "params": {"name": "list", "arguments": [1]}},
        {**CALL, "params": None},
    ],
)
def test_malformed_messages_are_errors(demo: Demo, body: Any) -> None:
    for version in ([], ["MCP-Protocol-Version: 2026-07-28"], ["MCP-Protocol-Version: x"]):
        reply = post(demo, *version, body=body)
        # Messages without a usable ID are notifications, which are ignored.
        assert reply.status == 202 or 400 <= reply.status < 500 or "error" in reply.object


def test_a_request_that_is_too_large_is_refused(demo: Demo) -> None:
    assert post(demo, body=b" " * (5 * 2**20)).status == 413


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list", {}),
        ("list", {"kind": ""}),
        ("list", {"kind": "no such kind"}),
        ("list", {"kind": "pods", "other": 1}),
        ("list", {"kind": 5}),
        ("list", {"kind": "pods", "limit": 100_000}),
        ("list", {"kind": "pods", "limit": -1}),
        ("list", {"kind": "pods", "limit": "many"}),
        ("list", {"kind": "pods", "selector": "((("}),
        ("list", {"kind": "pods", "cluster": "../host"}),
        ("list", {"kind": "pods", "cluster": "no-such"}),
        ("list", {"kind": "../nodes"}),
        ("list", {"kind": "pods", "namespace": "../../admin"}),
        ("search", {"query": ""}),
        ("search", {"query": "x" * 300}),
        ("search", {"query": "\x00"}),
        ("search", {"query": "x", "cluster": "no-such"}),
        ("describe", {"kind": "pods", "name": "../x", "namespace": "payments"}),
        ("describe", {"kind": "pods", "name": "..", "namespace": ".."}),
        ("describe", {"kind": "pods", "name": "x?format=yaml#", "namespace": "payments"}),
        ("describe", {"kind": "pods", "name": "%2e%2e%2f", "namespace": "payments"}),
        ("describe", {"kind": "pods", "name": "x\ny", "namespace": "payments"}),
        ("describe", {"kind": "pods", "name": "\x00", "namespace": "payments"}),
        ("describe", {"kind": "pods", "name": "名\u202e", "namespace": "payments"}),
        ("describe", {"kind": "pods", "name": "x"}),
        ("describe", {"kind": "nodes", "name": "x", "namespace": "payments"}),
        ("logs", {"namespace": "payments", "name": "x", "selector": "a=b"}),
        ("logs", {"namespace": "payments", "selector": "((("}),
        ("logs", {"namespace": "payments", "name": "x", "since": "yesterday"}),
        ("logs", {"namespace": "payments", "kind": "configmaps", "name": "x"}),
        ("logs", {"namespace": "payments", "name": "no-such"}),
        ("events", {"kind": "pods"}),
        ("events", {"type": "Other"}),
        ("explain_problems", {"name": "x"}),
        ("explain_problems", {"namespace": "a b"}),
    ],
)
def test_invalid_arguments_are_reported(demo: Demo, tool: str, arguments: dict[str, Any]) -> None:
    text = Assistant(demo, demo.token("admin")).refusal(tool, **arguments)
    assert text
    assert "internal error" not in text.lower()
    assert "<html" not in text


def test_calls_above_the_limit_of_a_user_are_refused(demo: Demo) -> None:
    body = {**CALL, "params": {"name": "search", "arguments": {"query": "a"}}}
    with ThreadPoolExecutor(80) as pool:
        replies = list(pool.map(lambda _: post(demo, body=body, user="alice"), range(80)))
    codes = {one.status for one in replies}
    assert codes <= {200, 429}
    assert all(one.headers["retry-after"] == "1" for one in replies if one.status == 429)
    assert post(demo, user="admin").status == 200


def test_a_revoked_token_is_refused(demo: Demo) -> None:
    visitor = demo.visitor("bob")
    line = f"Authorization: Bearer {download(visitor, 'read')}"
    assert post(demo, line, user="").status == 200
    id = re.search(r'name="token" value="([-0-9a-f]{36})"', visitor.get("/account")[1])
    assert id
    visitor.post("/account", "/account/tokens/end", token=id[1])
    eventually(lambda: post(demo, line, user="").status == 401, "the token is refused")
