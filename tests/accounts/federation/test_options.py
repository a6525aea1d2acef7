"""Configuration of identity providers: sources, reported errors, and secrecy."""

import ssl
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from accounts.oauth.options import options as oauth_options
from accounts.providers import options
from accounts.providers.base import Unreachable
from accounts.providers.options import Fields, read_catalogue, read_current_providers
from accounts.providers.web import ProviderHttpClient
from console.kube.errors import ApiError
from console.kube.gvr import CONFIG_MAPS
from tests.accounts.conftest import Browser
from tests.accounts.federation.conftest import Providers, entry
from tests.accounts.federation.servers import Serve
from tests.controlplane.pki import Authority
from tests.rbac.fakes import FakeConsole, MovableClock

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "canary-of-a-secret"
GITHUB = {"clientID": "console", "clientSecret": CANARY}
#: Example from KubeSphere's documentation.
KUBESPHERE = """
authentication:
  jwtSecret: "x"
  oauthOptions:
    identityProviders:
    - name: LDAP
      type: LDAPIdentityProvider
      mappingMethod: auto
      provider:
        host: 192.168.0.2:636
        managerDN: uid=root,cn=users,dc=nas
        managerPassword: canary-of-a-secret
        userSearchBase: cn=users,dc=nas
        loginAttribute: uid
        mailAttribute: mail
        insecureSkipVerify: true
    - name: keycloak
      type: OIDCIdentityProvider
      mappingMethod: lookup
      provider:
        clientID: console
        clientSecret: canary-of-a-secret
        issuer: https://sso.example.com/realms/main
        redirectURL: https://console.example.com/oauth/redirect/keycloak
        insecureSkipVerify: false
    - name: github
      type: GitHubIdentityProvider
      mappingMethod: mixed
      provider:
        clientID: console
        clientSecret: canary-of-a-secret
        endpoint:
          authURL: https://github.com/login/oauth/authorize
          tokenURL: https://github.com/login/oauth/access_token
        scopes:
        - user
    - name: cas
      type: CASIdentityProvider
      mappingMethod: auto
      disableLoginConfirmation: true
      provider:
        redirectURL: https://console.example.com/oauth/callback/cas
        casServerURL: https://cas.example.com/cas
"""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> MovableClock:
    found = MovableClock()
    monkeypatch.setattr("accounts.time.clock", found)
    return found


async def test_the_configuration_of_kubesphere_is_read(providers: Providers) -> None:
    providers.path.write_text(KUBESPHERE)
    found = await read_current_providers()
    assert found.problems == () and found.source == str(providers.path)
    assert [(e.name, e.mapping, e.confirms) for e in found.entries.values()] == [
        ("LDAP", "auto", True),
        ("keycloak", "lookup", True),
        ("github", "mixed", True),
        ("cas", "auto", False),
    ]
    assert CANARY not in repr(found) + repr(oauth_options())


BAD: list[tuple[Any, str]] = [
    ("text", "a name, a type and a provider"),
    ({"name": "x", "type": "GitHubIdentityProvider"}, "a name, a type and a provider"),
    (entry("", "GitHubIdentityProvider", GITHUB), "the name must"),
    (entry("a/b", "GitHubIdentityProvider", GITHUB), "the name must"),
    (entry("a" * 64, "GitHubIdentityProvider", GITHUB), "the name must"),
    (entry("good", "GitHubIdentityProvider", GITHUB), "twice"),
    (entry("x", "AliyunIDaaSProvider", GITHUB), "the type must be one of"),
    (entry("x", "", GITHUB), "the type must be one of"),
    (entry("x", "GitHubIdentityProvider", GITHUB, mappingMethod="all"), "mappingMethod"),
    (entry("x", "GitHubIdentityProvider", {"clientID": "x"}), "clientSecret is missing"),
    (entry("x", "GitHubIdentityProvider", {**GITHUB, "clientSecret": [CANARY]}), "clientSecret"),
    (entry("x", "GitHubIdentityProvider", {**GITHUB, "scopes": CANARY}), "scopes must be a list"),
    (entry("x", "GitHubIdentityProvider", {**GITHUB, "userIDKey": CANARY}), "userIDKey"),
    (
        entry("x", "GitHubIdentityProvider", {**GITHUB, "redirectURL": f"https://evil/{CANARY}"}),
        "redirectURL must be one of https://console.example.com/oauth/callback/x",
    ),
    (
        entry("x", "GitHubIdentityProvider", {**GITHUB, "endpoint": {"authURL": "http://evil"}}),
        "authURL: use https",
    ),
    (entry("x", "GitHubIdentityProvider", {**GITHUB, "rootCAData": CANARY}), "rootCA"),
    (entry("x", "GitHubIdentityProvider", {**GITHUB, "rootCA": "/nowhere"}), "rootCA"),
    (entry("x", "OIDCIdentityProvider", GITHUB), "issuer is missing"),
    (entry("x", "OIDCIdentityProvider", {**GITHUB, "issuer": "ftp://x"}), "issuer: use https"),
    (entry("x", "CASIdentityProvider", {}), "casServerURL is missing"),
    (entry("x", "LDAPIdentityProvider", {"userSearchBase": "x"}), "host is missing"),
    (
        entry("x", "LDAPIdentityProvider", {"host": "h:636", "userSearchBase": "x",
              "loginAttribute": f"uid)({CANARY}"}),
        "loginAttribute",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "text"), BAD, ids=range(len(BAD)))
async def test_an_invalid_entry_is_ignored_and_reported(
    providers: Providers, caplog: pytest.LogCaptureFixture, bad: Any, text: str
) -> None:
    providers.write(entry("good", "GitHubIdentityProvider", GITHUB), bad)
    found = await read_current_providers()
    assert list(found.entries) == ["good"]
    assert len(found.problems) == 1 and text in found.problems[0].text
    assert CANARY not in repr(found) + caplog.text


FIELDS = (
    "host", "issuer", "clientID", "clientSecret", "redirectURL", "scopes", "endpoint", "rootCAData",
    "startTLS", "casServerURL", "userSearchBase", "readTimeout", "insecureSkipVerify", "managerDN",
)  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner),
    max_leaves=12,
)
known_entries = st.fixed_dictionaries(
    {
        "name": st.text(max_size=5) | json_values,
        "type": st.sampled_from(
            [f"{n}IdentityProvider" for n in ("LDAP", "OIDC", "GitHub", "Gitlab", "CAS")]
        ),
        "provider": st.dictionaries(
            st.sampled_from(FIELDS),
            json_values | st.sampled_from(["https://x.example.com", "h:636"]),
        ),
    }
)


@given(json_values | st.lists(known_entries | json_values, max_size=4))
def test_arbitrary_configuration_does_not_raise(listed: object) -> None:
    found = read_catalogue(listed, "x")
    assert all(problem.text for problem in found.problems)


# Sources.


def config_map(text: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "kubesphere-config", "namespace": "kubesphere-system", "uid": "u"},
        "data": {"kubesphere.yaml": text},
    }


@pytest.fixture
def from_map(console: FakeConsole, providers: Providers) -> FakeConsole:
    """Use the ConfigMap, with a file that contains no providers."""
    providers.path.write_text(yaml.safe_dump({"oauthOptions": {"clients": []}}))
    console.objects[CONFIG_MAPS, "kubesphere-system/kubesphere-config"] = config_map(KUBESPHERE)
    return console


async def test_the_config_map_is_used_if_the_file_has_no_providers(
    from_map: FakeConsole, providers: Providers
) -> None:
    found = await read_current_providers()
    assert found.source == "kubesphere-system/kubesphere-config" and len(found.entries) == 4
    providers.write()
    assert (await read_current_providers()).entries == {}
    providers.path.unlink()
    assert len((await read_current_providers()).entries) == 4


async def test_changes_take_effect_without_a_restart(
    from_map: FakeConsole, clock: MovableClock
) -> None:
    first = await read_current_providers()
    clock.move(seconds=11)
    # Unchanged entries keep their cached provider state.
    assert (await read_current_providers()).entries["keycloak"] is first.entries["keycloak"]
    from_map.objects[CONFIG_MAPS, "kubesphere-system/kubesphere-config"] = config_map("{}")
    clock.move(seconds=5)
    assert len((await read_current_providers()).entries) == 4
    clock.move(seconds=6)
    assert (await read_current_providers()).entries == {}
    del from_map.objects[CONFIG_MAPS, "kubesphere-system/kubesphere-config"]
    clock.move(seconds=11)
    assert (await read_current_providers()) == options.ProviderCatalog()


async def test_the_last_configuration_is_used_while_the_cluster_is_unavailable(
    from_map: FakeConsole, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await read_current_providers()
    calls = 0

    async def fail(*_: object, **__: object) -> None:
        nonlocal calls
        calls += 1
        raise ApiError(503, f"unavailable {CANARY}")

    monkeypatch.setattr(from_map, "get", fail)
    for _each in range(3):
        clock.move(seconds=11)
        for _visitor in range(5):
            found = await read_current_providers()
        assert found.entries == first.entries
        assert [problem.text for problem in found.problems] == [
            "the configuration cannot be read; the previous one remains in effect"
        ]
    # Independent of the number of requests to the sign-in page.
    assert calls == 3
    monkeypatch.undo()
    monkeypatch.setattr("accounts.time.clock", clock)
    clock.move(seconds=11)
    assert (await read_current_providers()).problems == ()


@pytest.mark.parametrize(
    "text", ["[", "- x", "a: [1]\nauthentication: 7", "&a [*a]", "x" * 2_000_000]
)
async def test_an_invalid_config_map_keeps_the_last_configuration(
    from_map: FakeConsole, clock: MovableClock, text: str
) -> None:
    first = await read_current_providers()
    from_map.objects[CONFIG_MAPS, "kubesphere-system/kubesphere-config"] = config_map(text)
    clock.move(seconds=11)
    found = await read_current_providers()
    assert found.entries == first.entries and found.problems[0].text.startswith(
        "the configuration cannot be"
    )
    assert (await Browser().get("/login")).status_code == 200


# Page.


async def test_administrators_see_providers_and_configuration_errors(
    browser: Browser, providers: Providers
) -> None:
    bad = entry("bad", "GitHubIdentityProvider", {"clientSecret": CANARY})
    data = yaml.safe_load(KUBESPHERE)["authentication"]["oauthOptions"]["identityProviders"]
    providers.write(*data, bad)
    await browser.login("admin")
    answer = await browser.get("/access/providers")
    page = answer.content.decode()
    assert answer.status_code == 200
    for text in (
        "keycloak",
        "https://console.example.com/oauth/redirect/keycloak",
        "Ignored",
        "clientID is missing",
        "Not verified",
    ):
        assert text in page, text
    assert CANARY not in page and 'href="/access/providers"' in page


async def test_other_users_do_not_see_providers(browser: Browser, providers: Providers) -> None:
    providers.path.write_text(KUBESPHERE)
    assert (await browser.get("/access/providers"))["Location"].startswith("/login?")
    await browser.login("alice")
    answer = await browser.get("/access/providers")
    text = answer.content.decode()
    assert answer.status_code == 403 and "keycloak" not in text
    assert (
        "My permissions" in text and "Missing permission" not in text and "request-text" not in text
    )


async def test_the_page_without_providers(browser: Browser, providers: Providers) -> None:
    await browser.login("admin")
    answer = await browser.get("/access/providers")
    assert answer.status_code == 200 and "No identity providers" in answer.content.decode()


async def test_the_sign_in_page_shows_only_provider_names(
    browser: Browser, providers: Providers
) -> None:
    """The public page contains no URLs and no configuration of providers."""
    providers.path.write_text(KUBESPHERE)
    page = (await browser.get("/login")).content.decode()
    for name in ("LDAP", "keycloak", "github", "cas"):
        assert name in page
    for text in (CANARY, "192.168", "sso.example", "cn=users", "clientID"):
        assert text not in page


# Transport security.


def web_with(**fields: Any) -> ProviderHttpClient:
    return ProviderHttpClient(Fields(fields, ("unused",)).tls())


async def test_certificates_are_checked(serve: Serve, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("right", "wrong")]
    for folder in folders:
        folder.mkdir()
    right, wrong = (Authority(folder) for folder in folders)
    pair = right.server("provider", hosts=["localhost"], addresses=[])
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pair.certificate, pair.key)
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.json_response({"a": 1})

    application = web.Application()
    application.router.add_get("/x", answer)
    address = f"{await serve(application, tls=tls)}/x"
    named = address.replace("127.0.0.1", "localhost")
    assert await web_with(rootCA=str(right.certificate)).json_at(named) == {"a": 1}
    for url, fields in (
        (address, {"rootCA": str(right.certificate)}),
        (named, {"rootCA": str(wrong.certificate)}),
        (named, {}),
    ):
        with pytest.raises(Unreachable):
            await web_with(**fields).json_at(url)
    assert asked == ["/x"]
    assert await web_with(insecureSkipVerify=True).json_at(named) == {"a": 1}


async def test_responses_are_not_decompressed_and_proxies_are_not_used(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small response that decompresses to a large one stays compressed, and therefore is not
    valid JSON.
    """
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    seen: list[dict[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(dict(request.headers))
        return web.Response(body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"})

    application = web.Application()
    application.router.add_get("/x", answer)
    with pytest.raises(Unreachable):
        await web_with().json_at(f"{await serve(application)}/x")
    assert seen[0]["Accept-Encoding"] == "identity" and "Cookie" not in seen[0]
