"""Forms of pages and API endpoints, and their hostile variants."""

from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from random import Random
from urllib.parse import urlencode, urljoin, urlsplit

from tests.accounts.oauth.clients import CALLBACK, PKCE, SECRET, VERIFIER, basic

Fields = list[tuple[str, str]]

#: Sent instead of a secret. It must not appear anywhere afterwards.
CANARY = "Canary-of-a-Secret-7"
#: Fields with secret values.
SECRETS = frozenset(
    {
        "password", "current", "again", "encrypt", "code", "totp", "client_secret", "refresh_token",
        "token", "code_verifier", "logout_token", "access_token", "id_token_hint",
    }
)  # fmt: skip
VALUES = (
    "", " ", "on", "\0", "\r\nSet-Cookie: a=b", "\u202e", "é" * 60, "a" * 6000, "-1", "1e309", "٣", "NaN",
    "' OR 1=1 --", "*)(uid=*", "<script>alert(1)</script>", "{{7*7}}", "${7*7}", "%s%n", "..", "/",
    "../../etc/passwd", "//evil.example", "/\\evil.example", "javascript:alert(1)", "null", "[]", "{}",
    "[null]", "{\"a\": {\"$ref\": \"#\"}}", "admin", "jane", "nobody-of-this-name", "system:masters",
    "kubesphere", "platform-admin", "cluster-admin", "demo", "shop", "kube-system", "x@y", "a@b@c",
    "jane@kubesphere.example", "00000000-0000-0000-0000-000000000000", "9" * 400, "1Ei", "-5Gi", "0.1m",
    "\ufeff", "\U0001f600", "a\nb", "a,b", "a=b", "a/b", "-a", "A", "9" * 21, "0", "1", "%",
    "2026-13-45T99:99:99Z", "__proto__", "get", "*", "pods", "true", "false", "None", "\x7f", "\u2028",
)  # fmt: skip
STRANGE = ("uid", "next", "q", "page", "name", "namespace", "act", "verb", "__class__", "a[b]", "")
KINDS = (
    "application/x-www-form-urlencoded; charset=utf-7", "multipart/form-data; boundary=b",
    "multipart/form-data", "application/json", "text/plain", "application/xml", "/",
)  # fmt: skip
METHODS = ("GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "POST")


@dataclass(frozen=True, slots=True)
class Form:
    """A form. `fields` are in order with their values, `headers` are sent in addition to a
    browser's headers.
    """

    action: str
    method: str
    fields: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Shot:
    method: str
    url: str
    body: bytes
    kind: str
    headers: tuple[tuple[str, str], ...]


class Reader(HTMLParser):
    """Parser for the forms and links of a page. A button with its own action counts as a separate
    form.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.links: list[str] = []
        self._url = url
        self._method, self._fields = "", list[tuple[str, str]]()
        self._actions: list[str] = []
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        name, value = found.get("name", ""), found.get("value", "")
        if tag == "a" and found.get("href", "").startswith("/"):
            self.links.append(found["href"].partition("#")[0])
        elif tag == "form":
            self._method = found.get("method", "get").upper()
            self._fields = []
            self._actions = [found["action"]] if found.get("action") else []
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and "selected" in found:
            self._fields.append((self._select, value))
        elif tag == "button" and "form" in found and "formaction" in found:
            # A field of a form elsewhere on the page.
            self.forms.append(Form(found["formaction"], "POST", ((name, value),)))
        elif tag in ("input", "button", "textarea") and self._method:
            self._actions += [found["formaction"]] if "formaction" in found else []
            self._fields += [(name, value)] if name else []

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""
        elif tag == "form" and self._method:
            # Dialog forms are not submitted.
            for action in (self._actions or [""]) if self._method != "DIALOG" else []:
                path = urlsplit(urljoin(self._url, action))
                target = path.path + (f"?{path.query}" if path.query else "")
                self.forms.append(Form(target, self._method, tuple(self._fields)))
            self._method = ""


def endpoints() -> Iterator[Form]:
    """Yield valid requests of API clients and identity providers."""
    client = {"client_id": "kubesphere", "client_secret": SECRET}
    grants = (
        {"grant_type": "password", "username": "jane", "password": CANARY, "totp": CANARY},
        {"grant_type": "refresh_token", "refresh_token": CANARY},
        {"grant_type": "code", "code": CANARY, "redirect_uri": CALLBACK, "code_verifier": VERIFIER},
    )
    for grant in grants:
        yield _post("/oauth/token", {**client, **grant})
    yield _post("/oauth/revoke", {**client, "token": CANARY, "token_type_hint": "refresh_token"})
    asked = {"response_type": "code", "client_id": "cli", "redirect_uri": CALLBACK, **PKCE}
    more = {"scope": "openid api", "state": "s", "nonce": "n", "prompt": "none"}
    for path in ("/oauth/authorize", "/oauth/authorize/confirm"):
        yield Form(path, "GET", tuple({**asked, **more}.items()))
        yield _post(path, {**asked, **more})
    review = (("Authorization", basic("kube-apiserver", "kube-" + SECRET)),)
    yield Form("/oauth/authenticate", "POST", (("token", CANARY),), review)
    yield _post("/oauth/login/ldap", {"username": "jane", "password": CANARY})
    yield _post("/login", {"username": "jane", "password": CANARY, "provider": "ldap"})
    yield _post("/login", {"username": "jane", "encrypt": CANARY, "next": "/dashboard"})
    for name in ("sso", "hub", "cas", "ldap", "nobody"):
        yield _post(f"/oauth/backchannel/{name}", {"logout_token": CANARY})
        yield _post(f"/oauth/callback/{name}", {"logoutRequest": CANARY})
        answer = {"code": CANARY, "state": "s", "ticket": CANARY, "iss": "https://sso.example.com"}
        yield Form(f"/oauth/callback/{name}", "GET", tuple(answer.items()))
        yield Form(f"/oauth/redirect/{name}", "GET", tuple(answer.items()))
    for path in (
        "/oauth/userinfo",
        "/oauth/logout",
        "/kapis/iam.kubesphere.io/v1alpha2/users/jane",
    ):
        yield Form(path, "GET", (), (("Authorization", f"Bearer {CANARY}"),))


def _post(action: str, fields: dict[str, str]) -> Form:
    return Form(action, "POST", tuple(fields.items()))


def shoot(form: Form, rng: Random, csrf: str) -> Shot:
    """Return a hostile variant of a form. The CSRF token is valid, so that the view is reached."""
    fields = _spoiled(list(form.fields), rng)
    fields = [(name, value) for name, value in fields if name != "csrfmiddlewaretoken"]
    method = form.method if rng.random() < 0.9 else rng.choice(METHODS)
    kind = "application/x-www-form-urlencoded"
    headers = dict(form.headers)
    if rng.random() < 0.1:
        headers["HX-Request"] = "true"
    url = form.action
    if form.method == "GET" or rng.random() < 0.05:
        url += ("&" if "?" in url else "?") + _encoded(fields)
    if rng.random() < 0.1:
        url = _turned(url, rng)
    if method in ("GET", "HEAD"):
        return Shot(method, url, b"", "", tuple(headers.items()))
    body = _encoded(fields).encode()
    if rng.random() < 0.1:
        kind = rng.choice(KINDS)
        body = rng.choice((body, b'{"a": [' * 200, b"--b\r\n\r\n", rng.randbytes(100)))
    headers["X-CSRFToken"] = csrf
    return Shot(method, url, body, kind, tuple(headers.items()))


def _spoiled(fields: Fields, rng: Random) -> Fields:
    if not fields or rng.random() < 0.1:
        names = rng.choices([*(name for name, _ in fields), *STRANGE], k=4)
        return [(name, _value(name, rng)) for name in names]
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(fields))
        name, value = fields[place]
        act = rng.random()
        if act < 0.75:
            fields[place] = (name, _value(name, rng))
        elif act < 0.85 and len(fields) > 1:
            del fields[place]
        else:
            fields.append((name, _value(name, rng)))
    return [(name, CANARY if name in SECRETS and not value else value) for name, value in fields]


def _value(name: str, rng: Random) -> str:
    if name in SECRETS and rng.random() < 0.5:
        return CANARY
    if rng.random() < 0.8:
        return rng.choice(VALUES)
    return "".join(chr(rng.randrange(1, 0x3000)) for _ in range(rng.randrange(40)))


def _turned(url: str, rng: Random) -> str:
    """Return the URL with one path segment replaced."""
    path, _, query = url.partition("?")
    parts = path.split("/")
    parts[rng.randrange(1, len(parts))] = rng.choice(
        ("%00", "%E2%80%AE", "..", "a" * 300, "admin", "%2F", "x")
    )
    return "/".join(parts) + (f"?{query}" if query else "")


def _encoded(fields: Fields) -> str:
    return urlencode([(name, value.encode("utf-8", "surrogatepass")) for name, value in fields])
