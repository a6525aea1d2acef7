"""KubeSphere's ConfigMap applies where the file is silent, and can't weaken security."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any, cast

import pytest
import yaml

from accounts.oauth import kubesphere_config
from accounts.oauth.options import CLUSTER, DEFAULTS, FILE, options
from console.kube.clients import ConsoleClient
from console.kube.clock import SystemClock
from console.kube.errors import ApiError
from console.kube.gvr import CONFIG_MAPS
from console.management.commands.doctor import configuration
from console.ui.core.gpus import GpuKind
from console.ui.editing.yaml_text import read_yaml
from tests.accounts.oauth.conftest import SECRET, Config
from tests.rbac.fakes import FakeConsole
from tests.support.cputime import at_most

PLACE = (CONFIG_MAPS, "kubesphere-system/kubesphere-config")
JENKINS = {"name": "jenkins", "secret": SECRET, "redirectURIs": ["https://ci.example.com/login"]}
SHIPPED = {"name": "kubesphere", "secret": "kubesphere", "redirectURIs": ["*"]}
CANARY = "canary-of-a-secret"
#: Example of an installation.
WHOLE: dict[str, Any] = {
    "authenticateRateLimiterMaxTries": 7,
    "authenticateRateLimiterDuration": "20m0s",
    "loginHistoryRetentionPeriod": "48h",
    "multipleLogin": False,
    "jwtSecret": CANARY,
    "oauthOptions": {
        "accessTokenMaxAge": "1h",
        "accessTokenInactivityTimeout": "30m",
        "clients": [SHIPPED, JENKINS],
    },
}


@pytest.fixture
def console() -> FakeConsole:
    return FakeConsole({})


@pytest.fixture(autouse=True)
def silent(config: Config) -> Iterator[None]:
    """Remove the file."""
    config.path.unlink()
    kubesphere_config.reset()
    yield
    kubesphere_config.reset()


async def look(console: FakeConsole, text: str | None = None, **authentication: Any) -> None:
    """Write the ConfigMap and read the configuration."""
    content = {"authentication": {**WHOLE, **authentication}, "monitoring": {"endpoint": CANARY}}
    text = yaml.safe_dump(content) if text is None else text
    console.objects[PLACE] = {
        "metadata": {"name": "kubesphere-config", "namespace": "kubesphere-system", "uid": "u"},
        "data": {"kubesphere.yaml": text},
    }
    await kubesphere_config.read_config(cast(ConsoleClient, console), SystemClock())


def write(config: Config, **content: Any) -> None:
    config.path.write_text(yaml.safe_dump({"authentication": content}))


async def test_there_are_no_clients_before_the_first_read() -> None:
    assert not options().clients


async def test_all_settings_of_the_config_map_are_used(console: FakeConsole) -> None:
    await look(console)
    found = options()
    assert list(found.clients) == ["jenkins"]
    client = found.clients["jenkins"]
    assert (client.access, client.idle) == (timedelta(hours=1), timedelta(minutes=30))
    assert found.multiple_login is False
    assert (found.limits.tries, found.limits.duration) == (7, timedelta(minutes=20))
    assert found.limits.history == timedelta(hours=48)
    assert set(found.sources.values()) == {CLUSTER}
    assert "the secret is well known" in found.problems[0]
    assert CANARY not in repr(kubesphere_config.current_config()) + repr(found)


async def test_the_file_overrides_single_settings(console: FakeConsole, config: Config) -> None:
    await look(console)
    write(config, authenticateRateLimiterMaxTries=3, oauthOptions={"clients": []})
    found = options()
    assert not found.clients and found.limits.tries == 3
    assert found.limits.duration == timedelta(minutes=20)
    assert found.sources["clients"] == found.sources["authenticateRateLimiterMaxTries"] == FILE
    assert found.sources["multipleLogin"] == CLUSTER


@pytest.mark.parametrize("text", ["", "# nothing yet", "authentication:", "oauthOptions: null"])
async def test_an_empty_file_overrides_nothing(
    console: FakeConsole, config: Config, text: str
) -> None:
    await look(console)
    config.path.write_text(text)
    assert list(options().clients) == ["jenkins"] and options().multiple_login is False


async def test_an_invalid_file_disables_all_clients(console: FakeConsole, config: Config) -> None:
    await look(console)
    config.path.write_text("[")
    found = options()
    assert not found.clients and found.limits.tries == 7 and found.multiple_login is False


async def test_an_invalid_setting_in_the_file_falls_back_to_the_default(
    console: FakeConsole, config: Config
) -> None:
    await look(console, authenticateRateLimiterMaxTries=9999)
    write(config, authenticateRateLimiterMaxTries="many")
    assert options().limits.tries == DEFAULTS.tries
    assert any("authenticateRateLimiterMaxTries" in problem for problem in options().problems)


async def test_only_the_file_can_enable_the_shipped_client(
    console: FakeConsole, config: Config
) -> None:
    await look(console, shippedClient=True)
    assert "kubesphere" not in options().clients
    write(config, shippedClient="yes")
    assert "kubesphere" not in options().clients
    assert any("shippedClient must be true or false" in problem for problem in options().problems)
    write(config, shippedClient=True)
    client = options().clients["kubesphere"]
    assert client.secret == "kubesphere" and "password" in client.grants
    assert not client.redirect_uris


@pytest.mark.parametrize(
    "client", [{**SHIPPED, "secret": "changeme"}, {**SHIPPED, "name": "other"}]
)
async def test_other_clients_with_weak_settings_are_not_enabled(
    console: FakeConsole, config: Config, client: dict[str, Any]
) -> None:
    write(config, shippedClient=True)
    await look(console, oauthOptions={"clients": [client]})
    assert not options().clients


async def test_the_config_map_cannot_change_settings_of_the_file_only(
    console: FakeConsole, config: Config
) -> None:
    write(config, secondFactor="required")
    await look(console, secondFactor="optional", firstPassword="optional")  # noqa: S106
    assert options().requires_factor and not options().may_postpone


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("multipleLogin", "no"),
        ("authenticateRateLimiterMaxTries", 0),
        ("authenticateRateLimiterMaxTries", "10"),
        ("authenticateRateLimiterDuration", "long"),
        ("loginHistoryRetentionPeriod", 7),
    ],
)
async def test_invalid_settings_are_reported_and_get_a_safe_default(
    console: FakeConsole, name: str, value: object
) -> None:
    said: dict[str, Any] = {"multipleLogin": True, name: value}
    await look(console, **said)
    found = options()
    assert any(problem.startswith(name) for problem in found.problems)
    assert found.multiple_login is (name != "multipleLogin")
    assert found.limits.tries == (DEFAULTS.tries if name.endswith("Tries") else 7)


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://prometheus.monitoring.svc:9090", "http://prometheus.monitoring.svc:9090"),
        ("https://prometheus.example.com/base?x=1#y", "https://prometheus.example.com/base"),
        ("http://user:password@prometheus:9090", ""),
        ("file:///etc/passwd", ""),
        ("http://[", ""),
        ("", ""),
        (None, ""),
        (7, ""),
    ],
)
async def test_the_monitoring_endpoint_is_used_if_it_is_a_plain_url(
    console: FakeConsole, endpoint: object, url: str
) -> None:
    assert kubesphere_config.current_config().prometheus_url == ""
    await look(console, yaml.safe_dump({"monitoring": {"endpoint": endpoint}}))
    assert kubesphere_config.current_config().prometheus_url == url


async def test_valid_types_of_gpus_are_read_with_the_default_first(console: FakeConsole) -> None:
    kinds = [
        {"resourceName": "amd.com/gpu", "resourceType": "AMD", "default": False},
        {"resourceName": "nvidia.com/gpu", "resourceType": "GPU", "default": True},
        {"resourceName": "nvidia.com/gpu", "resourceType": "again"},
        {"resourceName": "example.com/npu", "resourceType": 7},
        *({"resourceName": name} for name in ("cpu", "kubernetes.io/x", "a b/c", None, 1)),
        "nvidia.com/gpu",
    ]
    await look(console, yaml.safe_dump({"gpu": {"kinds": kinds}}))
    assert [*kubesphere_config.current_config().gpu_kinds] == [
        GpuKind("nvidia.com/gpu", "GPU", is_default=True),
        GpuKind("amd.com/gpu", "AMD"),
        GpuKind("example.com/npu", "example.com/npu"),
    ]
    sections: tuple[object, ...] = (None, 7, [], {"kinds": None}, {"kinds": {"a": 1}})
    for section in sections:
        await look(console, yaml.safe_dump({"gpu": section}))
        assert not kubesphere_config.current_config().gpu_kinds
        assert not kubesphere_config.current_config().problem


async def test_the_config_map_is_parsed_outside_the_event_loop(
    console: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def reading(text: str) -> object:
        threads.append(threading.get_ident())
        return read_yaml(text)

    monkeypatch.setattr(kubesphere_config, "read_yaml", reading)
    await look(console)
    assert threads and threading.get_ident() not in threads


async def test_changes_and_deletion_of_the_config_map_take_effect(console: FakeConsole) -> None:
    await look(console)
    await look(console, authenticateRateLimiterMaxTries=8)
    assert options().limits.tries == 8
    before = options()
    await look(console, authenticateRateLimiterMaxTries=8)
    assert options() is before, "nothing is read twice"
    del console.objects[PLACE]
    await kubesphere_config.read_config(cast(ConsoleClient, console), SystemClock())
    assert options().limits == DEFAULTS and not options().clients


@pytest.mark.parametrize(
    "text",
    [
        *("[", "- x", "authentication: 7", "authentication: {oauthOptions: [1]}", "x" * 2_000_000),
        *("a: !!bool x", "a: !!int ''", "a: !!timestamp 2", "? [a]\n: b"),
        "x" * 300_000,
        f"a: {CANARY}\na: [{CANARY}",
        # An alias that expands to a billion values.
        "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 10)}]\n" for a, b in pairwise("abcdefghi")),
    ],
)
async def test_an_invalid_config_map_keeps_the_previous_configuration(
    console: FakeConsole, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    await look(console)
    with at_most(1.0):
        await look(console, text)
    assert CANARY not in caplog.text and "Error" not in caplog.text
    assert list(options().clients) == ["jenkins"]
    assert "the previous configuration remains in effect" in options().problems[0]
    await look(console)
    assert not any("remains in effect" in problem for problem in options().problems)


async def test_the_last_configuration_is_used_while_the_cluster_is_unavailable(
    console: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ApiError(503, "away")

    await look(console)
    monkeypatch.setattr(console, "get", fail)
    await kubesphere_config.read_config(cast(ConsoleClient, console), SystemClock())
    assert list(options().clients) == ["jenkins"]


async def test_the_doctor_reports_the_source_of_each_setting(
    console: FakeConsole, config: Config
) -> None:
    await look(console)
    write(config, loginHistoryRetentionPeriod="24h")
    lines = list(configuration())
    assert "clients: kubesphere-system/kubesphere-config" in lines
    assert f"loginHistoryRetentionPeriod: {config.path}" in lines
    assert "loginHistoryMaximumEntries: the default" in lines
    assert "identityProviders: the default" in lines
    assert any(line.startswith("Invalid setting: client kubesphere") for line in lines)
    assert CANARY not in "".join(lines)
