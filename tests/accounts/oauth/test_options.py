"""The configuration: what counts, what is left out and said, and that a change is taken up."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from accounts.oauth.clients import make_first_client
from accounts.oauth.options import Options, options, parse_options
from accounts.time import parse_duration
from tests.accounts.oauth.conftest import CALLBACK, CLIENTS, ORIGIN, SECRET, Config

KUBESPHERE = """
authentication:
  authenticateRateLimiterMaxTries: 10
  authenticateRateLimiterDuration: 10m0s
  loginHistoryRetentionPeriod: 168h
  maximumClockSkew: 10s
  multipleLogin: False
  kubectlImage: kubesphere/kubectl:v1.22.0
  jwtSecret: "abc"
  oauthOptions:
    issuer: kubesphere
    accessTokenMaxAge: 1h
    accessTokenInactivityTimeout: 30m
    identityProviders: []
    clients:
    - name: kubesphere
      secret: kubesphere
      redirectURIs: ['*']
    - name: jenkins
      secret: 0123456789abcdef
      respondWithChallenges: true
      grantMethod: auto
      accessTokenMaxAge: 0
      redirectURIs:
      - https://jenkins.example.com/securityRealm/finishLogin
      - https://*.example.com/x
"""


def read(**oauth: Any) -> Options:
    return parse_options({"authentication": {"oauthOptions": oauth}})


def test_kubespheres_own_file_is_read() -> None:
    found = parse_options(yaml.safe_load(KUBESPHERE))
    assert found.issuer == ORIGIN
    assert found.multiple_login is False
    assert list(found.clients) == ["jenkins"]
    client = found.clients["jenkins"]
    assert (client.access, client.idle) == (timedelta(hours=1), timedelta(minutes=30))
    assert (client.challenges, client.consent) == (True, "auto")
    assert client.grants == {"authorization_code", "refresh_token"}
    assert client.redirect_uris == {"https://jenkins.example.com/securityRealm/finishLogin"}
    known, starred = found.problems
    assert "everybody knows its secret" in known
    assert "*" in starred


def test_parts_of_it_are_read_too() -> None:
    whole = yaml.safe_load(KUBESPHERE)
    for part in (whole["authentication"], whole["authentication"]["oauthOptions"]):
        assert list(parse_options(part).clients) == ["jenkins"]


@pytest.mark.parametrize(
    ("client", "problem"),
    [
        ({}, "needs a name"),
        ({"name": "a/b", "secret": SECRET}, "needs a name"),
        ({"name": ORIGIN, "secret": SECRET}, "needs a name"),
        ({"name": "a" * 65, "secret": SECRET}, "needs a name"),
        ({"name": 5, "secret": SECRET}, "needs a name"),
        ({"name": "a"}, "no secret"),
        ({"name": "a", "secret": "short"}, "less than 16"),
        ({"name": "a", "secret": "KubeSphere"}, "everybody knows"),
        ({"name": "a", "secret": SECRET, "public": True}, "has no secret"),
        ({"name": "a", "public": True, "grantTypes": ["password"]}, "cannot have the password"),
        ({"name": "a", "secret": SECRET, "grantTypes": ["implicit"]}, "grantTypes are"),
        ({"name": "a", "secret": SECRET, "grantTypes": "password"}, "grantTypes are"),
        ({"name": "a", "secret": SECRET, "grantMethod": "sometimes"}, "grantMethod is"),
        ({"name": "a", "secret": SECRET, "accessTokenMaxAge": "soon"}, "not a duration"),
        ({"name": "a", "secret": SECRET, "accessTokenMaxAge": "99999h"}, "more than a year"),
        ("kubesphere", "a client is a mapping"),
    ],
)
def test_a_wrong_client_is_left_out_and_named(client: Any, problem: str) -> None:
    found = read(clients=[client, CLIENTS[0]])
    assert list(found.clients) == ["kubesphere"]
    assert len(found.problems) == 1
    assert problem in found.problems[0]
    assert SECRET not in found.problems[0]


@pytest.mark.parametrize(
    "uri",
    [
        "*",
        "https://*.example.com/",
        "http://app.example.com/cb",
        "https://app.example.com/cb#x",
        "https://user@app.example.com/cb",
        "https:///cb",
        "javascript:alert(1)",
        "app:/cb",
        "//app.example.com/cb",
        "https://app.example.com/a b",
        'https://app.example.com/"><script>',
        "https://app.example.com/\u00e9",
        "https://[::1/cb",
        "https://app.example.com/" + "a" * 1100,
        "",
        None,
        5,
    ],
)
def test_an_address_that_nobody_should_be_sent_to_is_left_out(uri: Any) -> None:
    found = read(clients=[{**CLIENTS[0], "redirectURIs": [uri, CALLBACK]}])
    assert found.clients["kubesphere"].redirect_uris == {CALLBACK}
    assert len(found.problems) == 1


def test_the_first_of_two_of_a_name_counts() -> None:
    found = read(clients=[CLIENTS[0], {**CLIENTS[0], "secret": "x" * 20}])
    assert found.clients["kubesphere"].secret == SECRET
    assert len(found.problems) == 1


@pytest.mark.parametrize("raw", [None, [], "x", 5, {"authentication": []}])
def test_what_is_no_configuration_is_refused(raw: Any) -> None:
    with pytest.raises(ValueError, match="mapping"):
        parse_options(raw)


def test_no_file_means_no_clients(config: Config) -> None:
    config.path.unlink()
    assert options() == Options(ORIGIN, {})


def test_a_change_is_taken_up_and_a_broken_one_is_not(config: Config) -> None:
    assert "kubesphere" in options().clients
    config.write([])
    assert not options().clients
    config.write()
    assert "kubesphere" in options().clients
    for broken in (b"{", b"[]", b"\xff", b"a: &a [*a]" * 3, b"x" * 2_000_000):
        config.path.write_bytes(broken)
        assert "kubesphere" in options().clients
        assert len(options().problems) == 1


def test_a_file_that_is_broken_from_the_start_means_no_clients(
    config: Config, settings: Any, tmp_path: Path
) -> None:
    settings.AUTHENTICATION_CONFIG = str(tmp_path / "other.yaml")
    (tmp_path / "other.yaml").write_text("[")
    assert not options().clients


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2h", 7200), ("1h30m", 5400), ("10m0s", 600), ("1.5h", 5400), ("250ms", 0.25), (0, 0)],
)
def test_durations(text: object, seconds: float) -> None:
    assert parse_duration(text).total_seconds() == seconds


@pytest.mark.parametrize(
    "text", ["", "2", "h", "-2h", "2 h", "2d", "1e9h", "9" * 500 + "h", "2h\n"]
)
def test_no_durations(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        parse_duration(text)


def test_a_first_client_is_made_once_and_can_be_used(config: Config) -> None:
    config.path.unlink()
    make_first_client(config.path)
    client = options().clients["quarterdeck"]
    assert "password" in client.grants
    assert not options().problems
    assert config.path.stat().st_mode & 0o777 == 0o600
    make_first_client(config.path)
    assert options().clients["quarterdeck"].secret == client.secret
