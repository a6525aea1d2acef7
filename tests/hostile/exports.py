"""Check list exports against the programs that may open them."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from urllib.parse import urlencode

from playwright.async_api import APIResponse, BrowserContext

#: First characters of cells that a spreadsheet evaluates as a formula, including full-width
#: variants used with input methods. https://owasp.org/www-community/attacks/CSV_Injection
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")
DELIMITERS = {"csv": ",", "tsv": "\t"}
FORMS = ("json", *DELIMITERS)


async def wrong_exports(context: BrowserContext, url: str, forms: Sequence[str]) -> list[str]:
    """Return the problems of the exports of the list at `url`."""
    found = []
    for form in forms:
        response = await context.request.get(f"{url}?{urlencode({'format': form})}")
        problems = [*_headers(response, form), *_body(await response.body(), form)]
        found += [f"{form}: {problem}" for problem in problems]
    return found


def _headers(response: APIResponse, form: str) -> Iterator[str]:
    if response.status != 200:
        yield f"status {response.status}"
    if "html" in response.headers.get("content-type", "html"):
        yield "a page"
    if response.headers.get("x-content-type-options") != "nosniff":
        yield "a browser may take it for a page"
    disposition = response.headers.get("content-disposition", "")
    # JSON needs no attachment: browsers show it as text, and API clients request it.
    named = disposition.startswith("attachment;") or form == "json"
    if not named or "zqx" in disposition.replace("zqx.org", ""):
        yield f"is called {disposition}"


def _body(body: bytes, form: str) -> Iterator[str]:
    if form == "json":
        if len(json.loads(body)["items"]) < 2:
            yield "the objects are missing"
        return
    table = csv.reader(io.StringIO(body.decode(), newline=""), delimiter=DELIMITERS[form])
    head, *rows = table
    if len(rows) < 2:
        yield "the objects are missing"
    for row in rows:
        if len(row) != len(head):
            yield f"a row of {len(row)} cells for {len(head)} columns"
        for cell in row:
            if cell.startswith(FORMULAS) and not cell.lstrip("-").isdigit():
                yield f"a formula: {cell[:60]!r}"
