"""KubeSphere's ConfigMap counts where the file says nothing, and weakens nothing."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, cast

import pytest
import yaml

from accounts.oauth import kubesphere_config
from accounts.oauth.options import CLUSTER, FILE, options
from accounts.protection.limits import DEFAULTS
from console.kube.client import ConsoleClient
from console.kube.clock import SystemClock
from console.kube.errors import ApiError
from console.kube.gvr import CONFIG_MAPS
from console.management.commands.doctor import configuration
from tests.accounts.oauth.conftest import SECRET, Config
from tests.rbac.fakes import FakeConsole

PLACE = (CONFIG_MAPS, "kubesphere-system/kubesphere-config")
JENKINS = {"name": "jenkins", "secret": SECRET, "redirectURIs": ["https://ci.example.com/login"]}
SHIPPED = {"name": "kubesphere", "secret": "kubesphere", "redirectURIs": ["*"]}
CANARY = "canary-of-a-secret"
#: As an installation has it.
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
    """The file says nothing."""
    config.path.unlink()
    kubesphere_config.forget()
    yield
    kubesphere_config.forget()


async def look(console: FakeConsole, text: str | None = None, **authentication: Any) -> None:
    """After that has been written into the ConfigMap."""
    content = {"authentication": {**WHOLE, **authentication}, "monitoring": {"endpoint": CANARY}}
    text = yaml.safe_dump(content) if text is None else text
    console.objects[PLACE] = {
        "metadata": {"name": "kubesphere-config", "namespace": "kubesphere-system", "uid": "u"},
        "data": {"kubesphere.yaml": text},
    }
    await kubesphere_config.look(cast(ConsoleClient, console), SystemClock())


def write(config: Config, **content: Any) -> None:
    config.path.write_text(yaml.safe_dump({"authentication": content}))


async def test_before_it_was_read_there_are_no_clients() -> None:
    assert not options().clients


async def test_all_that_it_says_counts(console: FakeConsole) -> None:
    await look(console)
    found = options()
    assert list(found.clients) == ["jenkins"]
    client = found.clients["jenkins"]
    assert (client.access, client.idle) == (timedelta(hours=1), timedelta(minutes=30))
    assert found.multiple_login is False
    assert (found.limits.tries, found.limits.duration) == (7, timedelta(minutes=20))
    assert found.limits.history == timedelta(hours=48)
    assert set(found.sources.values()) == {CLUSTER}
    assert "everybody knows its secret" in found.problems[0]
    assert CANARY not in repr(kubesphere_config.found()) + repr(found)


async def test_what_the_file_says_wins_setting_by_setting(
    console: FakeConsole, config: Config
) -> None:
    await look(console)
    write(config, authenticateRateLimiterMaxTries=3, oauthOptions={"clients": []})
    found = options()
    assert not found.clients and found.limits.tries == 3
    assert found.limits.duration == timedelta(minutes=20)
    assert found.sources["clients"] == found.sources["authenticateRateLimiterMaxTries"] == FILE
    assert found.sources["multipleLogin"] == CLUSTER


@pytest.mark.parametrize("text", ["", "# nothing yet", "authentication:", "oauthOptions: null"])
async def test_a_file_that_says_nothing_leaves_it_to_the_cluster(
    console: FakeConsole, config: Config, text: str
) -> None:
    await look(console)
    config.path.write_text(text)
    assert list(options().clients) == ["jenkins"] and options().multiple_login is False


async def test_of_a_file_that_cannot_be_read_nobody_is_let_in(
    console: FakeConsole, config: Config
) -> None:
    await look(console)
    config.path.write_text("[")
    found = options()
    assert not found.clients and found.limits.tries == 7 and found.multiple_login is False


async def test_what_the_file_says_wrongly_is_the_default_and_not_the_clusters(
    console: FakeConsole, config: Config
) -> None:
    await look(console, authenticateRateLimiterMaxTries=9999)
    write(config, authenticateRateLimiterMaxTries="many")
    assert options().limits.tries == DEFAULTS.tries
    assert any("authenticateRateLimiterMaxTries" in problem for problem in options().problems)


async def test_the_shipped_client_is_for_the_file_to_let_in(
    console: FakeConsole, config: Config
) -> None:
    await look(console, shippedClient=True)
    assert "kubesphere" not in options().clients
    write(config, shippedClient="yes")
    assert "kubesphere" not in options().clients
    assert any("shippedClient is true or false" in problem for problem in options().problems)
    write(config, shippedClient=True)
    client = options().clients["kubesphere"]
    assert client.secret == "kubesphere" and "password" in client.grants
    assert not client.redirect_uris


@pytest.mark.parametrize(
    "client", [{**SHIPPED, "secret": "changeme"}, {**SHIPPED, "name": "other"}]
)
async def test_no_other_client_gets_in_by_it(
    console: FakeConsole, config: Config, client: dict[str, Any]
) -> None:
    write(config, shippedClient=True)
    await look(console, oauthOptions={"clients": [client]})
    assert not options().clients


async def test_it_can_neither_weaken_nor_change_what_is_the_files_alone(
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
async def test_what_cannot_be_read_is_named_and_safe(
    console: FakeConsole, name: str, value: object
) -> None:
    said: dict[str, Any] = {"multipleLogin": True, name: value}
    await look(console, **said)
    found = options()
    assert any(problem.startswith(name) for problem in found.problems)
    assert found.multiple_login is (name != "multipleLogin")
    assert found.limits.tries == (DEFAULTS.tries if name.endswith("Tries") else 7)


async def test_a_change_counts_and_so_does_its_end(console: FakeConsole) -> None:
    await look(console)
    await look(console, authenticateRateLimiterMaxTries=8)
    assert options().limits.tries == 8
    before = options()
    await look(console, authenticateRateLimiterMaxTries=8)
    assert options() is before, "nothing is read twice"
    del console.objects[PLACE]
    await kubesphere_config.look(cast(ConsoleClient, console), SystemClock())
    assert options().limits == DEFAULTS and not options().clients


@pytest.mark.parametrize(
    "text",
    [
        *("[", "- x", "authentication: 7", "authentication: {oauthOptions: [1]}", "x" * 2_000_000),
        *("a: !!bool x", "a: !!int ''", "a: !!timestamp 2", "? [a]\n: b"),
    ],
)
async def test_what_is_no_configuration_changes_nothing(console: FakeConsole, text: str) -> None:
    await look(console)
    await look(console, text)
    assert list(options().clients) == ["jenkins"]
    assert "what was known before still counts" in options().problems[0]
    await look(console)
    assert not any("still counts" in problem for problem in options().problems)


async def test_while_the_cluster_is_away_what_was_known_counts(
    console: FakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ApiError(503, "away")

    await look(console)
    monkeypatch.setattr(console, "get", fail)
    await kubesphere_config.look(cast(ConsoleClient, console), SystemClock())
    assert list(options().clients) == ["jenkins"]


async def test_the_doctor_says_where_each_comes_from(console: FakeConsole, config: Config) -> None:
    await look(console)
    write(config, loginHistoryRetentionPeriod="24h")
    lines = list(configuration())
    assert "clients: kubesphere-system/kubesphere-config" in lines
    assert f"loginHistoryRetentionPeriod: {config.path}" in lines
    assert "loginHistoryMaximumEntries: the default" in lines
    assert "identityProviders: the default" in lines
    assert any(line.startswith("Not as it is written: client kubesphere") for line in lines)
    assert CANARY not in "".join(lines)
