"""Every redirect of KubeSphere's sign-in, on both clusters. `docs/accounts.md` lists them with the
intended differences.
"""

import os
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from console.kube.gvr import USERS
from tests.accounts.clusters import World, on
from tests.accounts.conftest import HASH, ORIGIN, PASSWORD, Browser
from tests.accounts.federation.conftest import Providers, entry
from tests.accounts.federation.openid import OpenIDServer
from tests.accounts.federation.servers import CASServer, CodeServer, Serve, query
from tests.accounts.federation.slapd import (
    BASE,
    MANAGER,
    MANAGER_PASSWORD,
    OpenLDAP,
    missing,
)
from tests.controlplane.plugin import report_skipped
from tests.rbac.objects import user

# The redirects are created by the same code for every cluster.
pytestmark = [pytest.mark.django_db(transaction=True), on("embedded")]

PODS = "/clusters/host/pods"
THERE = "?next=%2Fclusters%2Fhost%2Fpods"
NEW = "Quarterdeck-7"
IAM = "iam.kubesphere.io"


async def somebody(world: World, **more: Any) -> str:
    """Create a user with a new name. `state`, `labels` and `annotations` are as in KubeSphere."""
    name = f"u-{uuid4().hex[:8]}"
    await world.create(USERS, user(name, password=HASH, **more))
    return name


async def first(world: World) -> str:
    return await somebody(world, annotations={f"{IAM}/uninitialized": "true"})


async def linked(world: World, subject: str, **more: Any) -> str:
    labels = {f"{IAM}/identify-provider": "hub", f"{IAM}/origin-uid": subject}
    return await somebody(world, labels=labels, **more)


class Hub:
    """A GitHub-like provider where `person` is signed in."""

    def __init__(self, server: CodeServer, url: str, providers: Providers) -> None:
        self.server, self.url, self._providers = server, url, providers

    def configure(
        self, kind: str = "GitHubIdentityProvider", *, redirectURL: str = "", **more: Any
    ) -> None:
        given = {"redirectURL": redirectURL} if redirectURL else {}
        self._providers.write(entry("hub", kind, self.server.fields(self.url, **given), **more))

    @property
    def subject(self) -> str:
        return str(self.server.person["login"])

    async def log_in(self, browser: Browser, next: str = "") -> Any:
        out = await browser.get("/oauth/redirect/hub" + (f"?next={next}" if next else ""))
        code = uuid4().hex
        state = self.server.authorize(out["Location"], code)
        return await browser.get(f"/oauth/callback/hub?code={code}&state={state}")


@pytest.fixture
async def hub(serve: Serve, providers: Providers) -> Hub:
    name = f"P-{uuid4().hex[:8]}"
    server = CodeServer(person={"login": name, "email": f"{name}@example.com"})
    found = Hub(server, await serve(server.application()), providers)
    found.configure()
    return found


@pytest.fixture
async def openid(serve: Serve, providers: Providers) -> OpenIDServer:
    found = OpenIDServer()
    name = f"o-{uuid4().hex[:8]}"
    found.claims |= {"sub": name, "preferred_username": name, "email": f"{name}@example.com"}
    found.url = await serve(found.application())
    providers.write(entry("oidc", "OIDCIdentityProvider", found.fields()))
    return found


@pytest.fixture
async def cas(serve: Serve, providers: Providers) -> CASServer:
    found = CASServer(user=f"c-{uuid4().hex[:8]}")
    url = await serve(found.application())
    providers.write(entry("cas", "CASIdentityProvider", {"casServerURL": f"{url}/cas"}))
    return found


@pytest.fixture
async def ldap(providers: Providers) -> AsyncIterator[str]:
    """Return the name of an LDAP provider without linked users."""
    why = missing()
    if why:
        if os.environ.get("REQUIRE_LDAP", "0") not in ("", "0"):
            pytest.fail(f"REQUIRE_LDAP is set, but {why}", pytrace=False)
        report_skipped("a login through LDAP on both clusters", why)
        pytest.skip(why)
    with OpenLDAP() as server:
        fields = {
            "host": f"127.0.0.1:{server.port}", "startTLS": True, "rootCA": str(server.ca),
            "managerDN": MANAGER, "managerPassword": MANAGER_PASSWORD,
            "userSearchBase": f"ou=people,{BASE}", "loginAttribute": "uid", "mailAttribute": "mail",
        }  # fmt: skip
        name = f"company-{uuid4().hex[:8]}"
        providers.write(entry(name, "LDAPIdentityProvider", fields, mappingMethod="mixed"))
        yield name


def copy_of(browser: Browser) -> Browser:
    """Return a browser with the same session."""
    found = Browser()
    found.key = browser.key or ""
    return found


def leads_to(answer: Any, location: str) -> None:
    assert (answer.status_code, answer.get("Location")) == (302, location), answer.content.decode()


# 1.1 URLs of KubeSphere's console.


async def test_the_root_redirects_to_the_dashboard(world: World) -> None:
    browser = Browser()
    await browser.login(await somebody(world))
    leads_to(await browser.get("/"), "/dashboard")
    assert (await browser.get("/dashboard")).status_code == 200


async def test_anonymous_requests_redirect_to_the_sign_in_page(world: World) -> None:
    leads_to(await Browser().get("/"), "/login?next=%2F")
    leads_to(await Browser().get(PODS), f"/login{THERE}")
    leads_to(await Browser().get(f"{PODS}?q=a&q=b"), f"/login{THERE}%3Fq%3Da%26q%3Db")


async def test_an_ended_session_redirects_to_the_sign_in_page(world: World) -> None:
    browser = Browser()
    await browser.login(await somebody(world))
    copy = copy_of(browser)
    await browser.post("/logout")
    leads_to(await copy.get(PODS), f"/login{THERE}&ended=1")


async def test_the_sign_in_page_redirects_signed_in_users(world: World) -> None:
    browser = Browser()
    await browser.login(await somebody(world))
    leads_to(await browser.get("/login"), "/")
    leads_to(await browser.get(f"/login?referer={PODS}"), PODS)


@pytest.mark.parametrize("path", ["/login/confirm", "/password/confirm", "/login/second-factor"])
async def test_steps_that_are_not_required_redirect(world: World, path: str) -> None:
    browser = Browser()
    anonymous = "/login" if path == "/login/confirm" else f"/login?next={path.replace('/', '%2F')}"
    leads_to(await browser.get(path), anonymous)
    await browser.login(await somebody(world))
    leads_to(await browser.get(path), "/login" if path == "/login/confirm" else "/account")


async def test_signing_out_redirects_to_the_sign_in_page(world: World) -> None:
    browser = Browser()
    await browser.login(await somebody(world))
    copy = copy_of(browser)
    leads_to(await browser.post("/logout"), "/login")
    leads_to(await copy.get("/dashboard"), "/login?next=%2Fdashboard&ended=1")
    # Applies to anonymous users too.
    leads_to(await Browser().post("/logout"), "/login")


# 1.3 After the password.


async def test_sign_in_redirects_to_a_safe_next_url(world: World) -> None:
    name = await somebody(world)
    leads_to(await Browser().login(name), "/")
    leads_to(await Browser().login(name, next=PODS), PODS)
    for elsewhere in ("//e", "https://e/", "/login", "javascript:alert(1)", "/\\e"):
        leads_to(await Browser().login(name, next=elsewhere), "/")


async def test_the_referer_is_kept(world: World) -> None:
    browser = Browser()
    page = await browser.get(f"/login?referer={PODS}")
    leads_to(await browser.login(await somebody(world), next=page.context["form"].next), PODS)


async def test_signing_in_as_another_user_redirects_to_the_root(world: World) -> None:
    browser = Browser()
    await browser.login(await somebody(world), next=PODS)
    leads_to(await browser.login(await somebody(world)), "/")


async def test_an_initial_password_redirects_to_the_password_page(world: World) -> None:
    browser, name = Browser(), await first(world)
    leads_to(await Browser().login(name), "/password/confirm")
    leads_to(await browser.login(name, next=PODS), f"/password/confirm{THERE}")
    # Every page redirects there, not only the one after sign-in.
    leads_to(await browser.get("/"), "/password/confirm")
    leads_to(await browser.get("/dashboard"), "/password/confirm?next=%2Fdashboard")
    new = {"current": PASSWORD, "password": NEW, "again": NEW, "next": PODS}
    leads_to(await browser.post("/password/confirm", new), PODS)
    leads_to(await browser.get("/"), "/dashboard")


# 1.3 and 1.7 To a provider and back.


async def test_the_provider_button_redirects_to_the_provider(world: World, hub: Hub) -> None:
    browser = Browser()
    page = (await browser.get(f"/login?next={PODS}")).content.decode()
    assert f'href="/oauth/redirect/hub{THERE}"' in page
    out = await browser.get(f"/oauth/redirect/hub{THERE}")
    assert out.status_code == 302 and out["Location"].startswith(f"{hub.url}/authorize?")
    asked = query(out["Location"])
    assert asked["response_type"] == "code" and asked["client_id"] == hub.server.client
    assert asked["redirect_uri"] == f"{ORIGIN}/oauth/callback/hub"


async def test_a_linked_user_is_signed_in(world: World, hub: Hub) -> None:
    await linked(world, hub.subject)
    leads_to(await hub.log_in(Browser(), PODS), PODS)
    leads_to(await hub.log_in(Browser()), "/")


async def test_a_linked_user_whose_password_must_change(world: World, hub: Hub) -> None:
    """KubeSphere does not check this for provider sign-ins."""
    await linked(world, hub.subject, annotations={f"{IAM}/uninitialized": "true"})
    leads_to(await hub.log_in(Browser(), PODS), f"/password/confirm{THERE}")


async def test_a_disabled_linked_user_is_refused(world: World, hub: Hub) -> None:
    await linked(world, hub.subject, state="Disabled")
    assert (await hub.log_in(Browser())).status_code == 403


async def test_mapping_lookup_signs_in_linked_users_only(world: World, hub: Hub) -> None:
    hub.configure(mappingMethod="lookup")
    assert (await hub.log_in(Browser())).status_code == 403
    await linked(world, hub.subject)
    leads_to(await hub.log_in(Browser(), PODS), PODS)


async def test_mapping_auto_without_confirmation_creates_a_user(world: World, hub: Hub) -> None:
    browser = Browser()
    leads_to(await hub.log_in(browser, PODS), PODS)
    leads_to(await browser.get("/"), "/dashboard")
    made = world.cached(hub.subject.lower())
    assert made is not None
    assert made["metadata"]["labels"] == {
        f"{IAM}/identify-provider": "hub",
        f"{IAM}/origin-uid": hub.subject,
    }


@pytest.mark.parametrize("mapping", ["auto", "mixed"])
async def test_a_new_user_is_asked_for_a_name(world: World, hub: Hub, mapping: str) -> None:
    hub.configure(mappingMethod=mapping, disableLoginConfirmation=False)
    browser, name = Browser(), f"n-{uuid4().hex[:8]}"
    leads_to(await hub.log_in(browser, PODS), "/login/confirm")
    leads_to(await browser.get("/dashboard"), "/login?next=%2Fdashboard")
    form = {"name": name, "email": f"{name}@example.com"}
    leads_to(await browser.post("/login/confirm", form), PODS)
    leads_to(await browser.get("/"), "/dashboard")
    # The confirmation can be used once.
    leads_to(await browser.get("/login/confirm"), "/login")
    leads_to(await hub.log_in(Browser()), "/")


async def test_the_callback_url_of_kubesphere(world: World, hub: Hub) -> None:
    await linked(world, hub.subject)
    hub.configure(redirectURL=f"{ORIGIN}/oauth/redirect/hub")
    browser = Browser()
    out = await browser.get(f"/oauth/redirect/hub{THERE}")
    state = hub.server.authorize(out["Location"], "c1")
    leads_to(await browser.get(f"/oauth/redirect/hub?code=c1&state={state}"), PODS)


async def test_gitlab(world: World, hub: Hub) -> None:
    number = uuid4().int % 10**9
    hub.server.person |= {"id": number, "username": hub.subject}
    hub.configure("GitlabIdentityProvider")
    await linked(world, str(number))
    leads_to(await hub.log_in(Browser(), PODS), PODS)


async def test_openid_connect_and_its_logout(world: World, openid: OpenIDServer) -> None:
    browser = Browser()
    out = await browser.get(f"/oauth/redirect/oidc{THERE}")
    assert out["Location"].startswith(f"{openid.url}/authorize?")
    back = openid.authorize(out["Location"], "c1")
    leads_to(await browser.get(f"/oauth/callback/oidc?{back}"), PODS)
    copy = copy_of(browser)
    answer = await browser.post("/logout")
    # A page with a redirect, because browsers can block redirects of forms to other origins.
    assert f'content="0;url={openid.url}/end?' in answer.content.decode()
    leads_to(await copy.get("/dashboard"), "/login?next=%2Fdashboard&ended=1")


async def test_cas(world: World, cas: CASServer) -> None:
    browser = Browser()
    out = await browser.get(f"/oauth/redirect/cas{THERE}")
    back = cas.login(out["Location"], "ST-1")
    leads_to(await browser.get(back.removeprefix(ORIGIN)), PODS)


async def test_ldap(world: World, ldap: str) -> None:
    """LDAP uses the sign-in form. KubeSphere has a separate URL, which works too."""
    form = {"username": "jane", "password": PASSWORD, "next": PODS}
    browser, name = Browser(), f"l-{uuid4().hex[:8]}"
    leads_to(await browser.post("/login", {**form, "provider": ldap}), "/login/confirm")
    chosen = {"name": name, "email": f"{name}@example.com"}
    leads_to(await browser.post("/login/confirm", chosen), PODS)
    leads_to(await Browser().post(f"/oauth/login/{ldap}", form), PODS)
    leads_to(await Browser().post(f"/oauth/login/{ldap}", {**form, "next": ""}), "/")
