"""Parsing of the OAuth configuration: valid and invalid settings, and reloading."""

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


def test_the_configuration_of_kubesphere_is_read() -> None:
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
    assert "the secret is well known" in known
    assert "*" in starred


def test_subsections_are_accepted_as_the_root() -> None:
    whole = yaml.safe_load(KUBESPHERE)
    for part in (whole["authentication"], whole["authentication"]["oauthOptions"]):
        assert list(parse_options(part).clients) == ["jenkins"]


@pytest.mark.parametrize(
    ("client", "problem"),
    [
        ({}, "name must consist of"),
        ({"name": "a/b", "secret": SECRET}, "name must consist of"),
        ({"name": ORIGIN, "secret": SECRET}, "name must consist of"),
        ({"name": "a" * 65, "secret": SECRET}, "name must consist of"),
        ({"name": 5, "secret": SECRET}, "name must consist of"),
        ({"name": "a"}, "secret is missing"),
        ({"name": "a", "secret": "short"}, "at least 16"),
        ({"name": "a", "secret": "KubeSphere"}, "well known"),
        ({"name": "a", "secret": SECRET, "public": True}, "must not have a secret"),
        ({"name": "a", "public": True, "grantTypes": ["password"]}, "can't use the password"),
        ({"name": "a", "secret": SECRET, "grantTypes": ["implicit"]}, "grantTypes may"),
        ({"name": "a", "secret": SECRET, "grantTypes": "password"}, "grantTypes may"),
        ({"name": "a", "secret": SECRET, "grantMethod": "sometimes"}, "grantMethod must"),
        ({"name": "a", "secret": SECRET, "accessTokenMaxAge": "soon"}, "not a duration"),
        ({"name": "a", "secret": SECRET, "accessTokenMaxAge": "99999h"}, "longer than a year"),
        ("kubesphere", "a client must be a mapping"),
    ],
)
def test_an_invalid_client_is_ignored_and_reported(client: Any, problem: str) -> None:
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
def test_unsafe_redirect_uris_are_ignored(uri: Any) -> None:
    found = read(clients=[{**CLIENTS[0], "redirectURIs": [uri, CALLBACK]}])
    assert found.clients["kubesphere"].redirect_uris == {CALLBACK}
    assert len(found.problems) == 1


def test_the_first_client_of_a_name_is_used() -> None:
    found = read(clients=[CLIENTS[0], {**CLIENTS[0], "secret": "x" * 20}])
    assert found.clients["kubesphere"].secret == SECRET
    assert len(found.problems) == 1


@pytest.mark.parametrize("raw", [None, [], "x", 5, {"authentication": []}])
def test_a_non_mapping_is_refused(raw: Any) -> None:
    with pytest.raises(ValueError, match="mapping"):
        parse_options(raw)


def test_no_file_means_no_clients(config: Config) -> None:
    config.path.unlink()
    assert options() == Options(ORIGIN, {})


def test_valid_changes_are_reloaded_and_broken_ones_are_not(config: Config) -> None:
    assert "kubesphere" in options().clients
    config.write([])
    assert not options().clients
    config.write()
    assert "kubesphere" in options().clients
    for broken in (b"{", b"[]", b"\xff", b"a: &a [*a]" * 3, b"x" * 2_000_000):
        config.path.write_bytes(broken)
        assert "kubesphere" in options().clients
        assert len(options().problems) == 1


def test_a_broken_file_at_startup_means_no_clients(
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
def test_invalid_durations(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        parse_duration(text)


def test_the_first_client_is_created_once(config: Config) -> None:
    config.path.unlink()
    make_first_client(config.path)
    client = options().clients["quarterdeck"]
    assert "password" in client.grants
    assert not options().problems
    assert config.path.stat().st_mode & 0o777 == 0o600
    make_first_client(config.path)
    assert options().clients["quarterdeck"].secret == client.secret
