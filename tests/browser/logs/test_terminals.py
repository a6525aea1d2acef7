"""A terminal in a real browser: what is typed, kept, pasted, and what programs cannot do with it."""

import http.client
import json
import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.accounts.conftest import hashed
from tests.browser.chromium import Chromium
from tests.browser.console import PASSWORD, Console
from tests.browser.logs.conftest import StartPod
from tests.browser.pages.test_tenant import enter, person
from tests.browser.tasks.conftest import LOOKS, Person
from tests.controlplane.waiting import eventually
from tests.depth import fewer
from tests.logs.conftest import binding

#: What a program may write, of which nothing must come: no title, link, clipboard, colour, answer.
_OSC = [
    *(f"]{n};zqx" for n in (0, 1, 2, 7, 9, 50, 99, 133, 777, 1337)),
    *(f"]{n};?" for n in (4, 10, 11, 12, 17, 19, 52)),
    *("]4;1;?", "]4;1;#ff0000", "]10;#ff0000", "]11;#ff0000", "]104", "]110", "]111", "]112"),
    *("]52;c;enF4", "]52;c;?", "]8;;https://zqx.example/", "]8;;javascript:zqx()"),
]
_OTHER = [
    *("[c", "[>c", "[=c", "[0c", "[5n", "[?6n", "[?15n", "[>q", "[18t", "[21t", "[14t", "[22;0t"),
    *("[?1$p", "[4$p", "P$qm", "P$q q", "P+q544e", "Z", "[>0q", "[x"),
]
#: Asks for a new shell and types into it at once.
NEW_SHELL = """(text) => {
  document.querySelector("[data-terminal-again]").click();
  document.execCommand("insertText", false, text);
}"""
HOSTILE = [*(f"\\033{one}\\007" for one in _OSC), *(f"\\033{one}\\033\\\\" for one in _OTHER)]


def terminal(address: str) -> str:
    """Of the pod whose log is at the address."""
    return address.partition("/log")[0] + "/terminal"


def screen(page: Page) -> Locator:
    return page.locator(".xterm-rows")


def shows(page: Page, text: str | re.Pattern[str]) -> None:
    expect(screen(page)).to_contain_text(text)


def run(page: Page, line: str) -> None:
    page.locator(".xterm").click()
    page.keyboard.insert_text(line)
    page.keyboard.press("Enter")


@pytest.fixture
def shell(page: Page, start: StartPod) -> str:
    """The address of a terminal that is open, with a prompt."""
    address = terminal(start("shells"))
    page.goto(address)
    shows(page, "# ")
    return address


def it_goes_on_over_a_page_load(page: Page, shell: str) -> None:
    run(page, "here=1234; echo first")
    shows(page, "first")
    page.reload()
    shows(page, "here=1234; echo first")
    run(page, "echo =$here=")
    shows(page, "=1234=")
    assert "new shell" not in screen(page).inner_text()
    assert page.evaluate("document.activeElement.className") == "xterm-helper-textarea"


def it_goes_on_after_a_quarter_of_an_hour(
    page: Page, start: StartPod, console: Console, apart: None
) -> None:
    page.clock.install()
    page.goto(terminal(start("shells")))
    shows(page, "# ")
    run(page, "here=1234")
    page.clock.fast_forward("15:00")
    run(page, "echo =$here=")
    shows(page, "=1234=")
    Person(page, LOOKS[0], console).picture("terminal-idle")


FULL = "printf '\\033[?1049h'"


# What holds after a screen of its own holds for lines.
@pytest.mark.parametrize("full", fewer(["", FULL], FULL), ids=["lines", "screen of its own"])
def it_says_how_the_shell_ended_and_offers_a_new_one(page: Page, shell: str, full: str) -> None:
    run(page, "echo =$((3 * 7))=")
    shows(page, "=21=")
    if full:
        run(page, full)
        expect(screen(page)).not_to_contain_text("=21=")
    run(page, "exit 7")
    expect(page.locator("[data-terminal-state]")).to_have_text(
        "The shell has ended with exit code 7."
    )
    # What stood there still does, and that comes after it.
    shows(page, re.compile("=21=.*The shell has ended with exit code 7"))
    # Whoever types on does not wait for it: this comes before the new shell can be there.
    page.evaluate(NEW_SHELL, "echo =$((6 * 7))=")
    page.keyboard.press("Enter")
    shows(page, "=42=")
    assert screen(page).inner_text().count("=42=") == 1


def it_says_that_a_shell_is_new(page: Page, shell: str) -> None:
    """Here because the browser comes back with an id that nobody knows."""
    run(page, "echo before")
    shows(page, "before")
    page.evaluate("""addEventListener("pagehide", () => {
      const key = Object.keys(sessionStorage).find((one) => one.startsWith("terminal:"));
      sessionStorage[key] = JSON.stringify({ ...JSON.parse(sessionStorage[key]), id: "another" });
    })""")
    page.reload()
    expect(page.locator("[data-terminal-state]")).to_have_text(
        "This is a new shell. The former one has ended."
    )
    shows(page, "before")
    shows(page, "── This is a new shell.")


def it_is_left_and_searched_by_keyboard(page: Page, shell: str) -> None:
    run(page, "echo needle")
    shows(page, "needle")
    rows = screen(page).locator("> div").count()
    page.keyboard.press("Control+Shift+F")
    page.keyboard.type("needle")
    page.keyboard.press("Enter")
    expect(page.locator(".xterm-selection > div").first).to_be_attached()
    # What looks for something takes no room from the shell, which would end the selection.
    assert screen(page).locator("> div").count() == rows
    page.keyboard.press("Escape")
    # Escape and Tab belong to the shell; these leave it.
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "xterm-helper-textarea"
    page.keyboard.press("Control+Shift+Enter")
    expect(page.get_by_role("button", name="Find")).to_be_focused()
    page.get_by_role("button", name="Screen reader").press("Enter")
    expect(page.locator(".xterm-accessibility")).to_be_attached()


def paste(page: Page, text: str) -> None:
    page.locator(".xterm-helper-textarea").evaluate(
        """(area, text) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          const how = { clipboardData, bubbles: true, cancelable: true };
          area.dispatchEvent(new ClipboardEvent("paste", how));
        }""",
        text,
    )


def it_asks_before_several_lines_are_pasted(page: Page, shell: str) -> None:
    dialog = page.get_by_role("dialog", name="Paste several lines?")
    paste(page, "echo o'n'e\necho t'w'o\n")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    paste(page, "echo o'n'e\necho t'w'o\n")
    dialog.get_by_role("button", name="Paste").click()
    shows(page, "two")
    assert screen(page).inner_text().count("o'n'e") == 1


def it_takes_out_of_a_paste_what_ends_it(page: Page, shell: str) -> None:
    sent = bytearray()

    def keep(data: str | bytes) -> None:
        sent.extend(data if isinstance(data, bytes) else b"")

    page.on("websocket", lambda socket: socket.on("framesent", keep))
    page.reload()
    shows(page, "# ")
    # Until that is drawn the page does not know that the program takes pastes.
    run(page, "printf '\\033[?2004hre''ady\\n'; cat")
    shows(page, "ready")
    paste(page, "a\x1b[201~\x9b201~\rb\x03c")
    page.keyboard.press("Enter")
    shows(page, "bc")
    # Both lines are in the brackets, nothing has ended `cat`, and nobody was asked.
    assert b"\x1b[200~a[201~201~\rbc\x1b[201~" in bytes(sent)
    expect(page.get_by_role("dialog")).to_be_hidden()


def it_lets_no_program_out_of_its_screen(page: Page, shell: str) -> None:
    title = page.title()
    page.evaluate("navigator.clipboard?.writeText('mine').catch(() => {})")
    for first in range(0, len(HOSTILE), 8):
        run(page, f"printf '{''.join(HOSTILE[first : first + 8])}'")
    run(page, "clear; echo o'v'er")
    expect(screen(page)).to_contain_text(re.compile(r"over\s*\S*#\s*$"))
    assert page.title() == title
    assert page.locator(".xterm a, .xterm iframe, .xterm img").count() == 0
    assert "zqx" not in page.content()
    # An answer would stand at the prompt, as if somebody had typed it.
    run(page, "echo =; read x; echo =$x=")
    page.keyboard.press("Enter")
    shows(page, "==")
    colour = "getComputedStyle(document.querySelector('.xterm-rows')).color"
    before = page.evaluate(colour)
    run(page, "printf '\\033]10;#ff0000\\007'; echo d'o'ne")
    shows(page, "done")
    assert page.evaluate(colour) == before


def it_shows_colours_without_inline_styles(page: Page, shell: str) -> None:
    """The page fails its test if the policy was violated."""
    run(page, "printf '\\033[31mred\\033[38;5;46mgreen\\033[38;2;10;200;250mtrue\\033[0m\\n'")
    shows(page, "redgreentrue")
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".xterm-viewport, .xterm").first).to_be_visible()
    shows(page, "redgreentrue")


def it_fits_a_phone(page: Page, shell: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    run(page, "sleep 1000")
    page.get_by_role("button", name="Ctrl").click()
    page.keyboard.type("c")
    shows(page, "^C")
    page.keyboard.type("echo x")
    page.get_by_role("button", name="Left").click()
    page.keyboard.type("y")
    page.keyboard.press("Enter")
    shows(page, "yx")
    page.get_by_role("button", name="Up").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def it_has_another_size_with_the_window(page: Page, shell: str) -> None:
    run(page, "echo =$COLUMNS=")
    expect(screen(page)).to_contain_text(re.compile(r"=\d{3}="))
    page.set_viewport_size({"width": 700, "height": 800})

    def is_narrow() -> bool:
        run(page, "echo =$COLUMNS=")
        return re.search(r"=\d{2}=", screen(page).inner_text()) is not None

    eventually(is_narrow, "the shell knows its new size")


def it_ends_with_the_right(console: Console, page: Page, start: StartPod) -> None:
    address = terminal(start("right"))
    kind = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding"}
    about = {**kind, **binding("typists", "cluster-admin", "typist")}
    typist = person("typist", hashed(PASSWORD))
    for item in ({**typist, "status": {"state": "Active"}}, about):
        console.kubectl("apply", "-f", "-", input=json.dumps(item))
    page.context.clear_cookies()
    enter(page, console, "typist", urlsplit(address).path)
    shows(page, "# ")
    console.kubectl("delete", "clusterrolebinding", "typists")
    state = page.locator("[data-terminal-state]")
    expect(state).to_contain_text("You may not see this any more.", timeout=2000)
    run(page, "echo x")
    assert "echo x" not in screen(page).inner_text()
    Person(page, LOOKS[0], console).picture("terminal-ended")


def it_is_for_pages_of_the_console_alone(console: Console, page: Page, start: StartPod) -> None:
    address = urlsplit(terminal(start("shells")))
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
    handshake = {
        **{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"},
        **{"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Cookie": cookies},
    }
    for origin, status in (("https://evil.example", 403), (console.url, 101)):
        connection = http.client.HTTPConnection(address.netloc, timeout=20)
        connection.request("GET", f"/ws{address.path}", headers={**handshake, "Origin": origin})
        assert connection.getresponse().status == status
        connection.close()


def it_says_without_scripts_what_does_the_same(
    console: Console, browser: Chromium, page: Page, start: StartPod
) -> None:
    address = terminal(start("shells"))
    state = page.context.storage_state()
    context = browser.new_context(java_script_enabled=False, storage_state=state)
    plain = context.new_page()
    plain.goto(address)
    expect(plain.get_by_text("A terminal needs JavaScript.")).to_be_visible()
    expect(plain.get_by_text("kubectl exec -it shells -c app -n default -- sh")).to_be_visible()
    expect(plain.locator(".tty")).to_be_hidden()
    context.close()
