"""Terminals in a real browser: input, scrollback, paste, and isolation of hostile output."""

import http.client
import json
import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.accounts.conftest import hashed
from tests.browser.chromium import Chromium
from tests.browser.console import PASSWORD, Console
from tests.browser.logs.conftest import StartPod
from tests.browser.logs.fakes import FakeConsole
from tests.browser.tasks.conftest import LOOKS, Person
from tests.browser.tenants import enter, person
from tests.controlplane.waiting import eventually
from tests.logs.conftest import binding
from tests.support.depth import fewer

#: Output that must have no effect: no title, link, clipboard access, color change, or response.
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
#: Request a new shell and immediately type into it.
NEW_SHELL = """(text) => {
  document.querySelector("[data-terminal-again]").click();
  document.execCommand("insertText", false, text);
}"""
#: A fake clipboard. `clipboard_` holds its text, or null if the browser denies access.
_CLIPBOARD = """() => {
  window.clipboard_ = "";
  const given = () => (window.clipboard_ === null ? Promise.reject(new Error()) : Promise.resolve());
  navigator.clipboard.writeText = (text) => given().then(() => { window.clipboard_ = text; });
  navigator.clipboard.readText = () => given().then(() => window.clipboard_);
}"""
HOSTILE = [*(f"\\033{one}\\007" for one in _OSC), *(f"\\033{one}\\033\\\\" for one in _OTHER)]


def terminal(address: str) -> str:
    """Return the URL of the terminal of the pod whose log has this URL."""
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
    """Open a terminal, wait for its prompt, and return its URL."""
    address = terminal(start("shells"))
    page.goto(address)
    shows(page, "# ")
    return address


def test_a_shell_survives_a_page_reload(page: Page, shell: str) -> None:
    run(page, "here=1234; echo first")
    shows(page, "first")
    page.reload()
    shows(page, "here=1234; echo first")
    run(page, "echo =$here=")
    shows(page, "=1234=")
    assert "new shell" not in screen(page).inner_text()
    assert page.evaluate("document.activeElement.className") == "xterm-helper-textarea"


def test_a_shell_stays_connected_for_15_minutes(
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


# The behavior of the alternate screen also applies to normal output.
@pytest.mark.parametrize("full", fewer(["", FULL], FULL), ids=["lines", "screen of its own"])
def test_the_exit_code_is_shown_and_a_new_shell_is_offered(
    page: Page, shell: str, full: str
) -> None:
    run(page, "echo =$((3 * 7))=")
    shows(page, "=21=")
    if full:
        run(page, full)
        expect(screen(page)).not_to_contain_text("=21=")
    run(page, "exit 7")
    expect(page.locator("[data-terminal-state]")).to_have_text("The shell exited with code 7.")
    # The previous output remains, and the message follows it.
    shows(page, re.compile("=21=.*The shell exited with code 7"))
    # Input does not wait for the new shell: this text is typed before it can be ready.
    page.evaluate(NEW_SHELL, "echo =$((6 * 7))=")
    page.keyboard.press("Enter")
    shows(page, "=42=")
    assert screen(page).inner_text().count("=42=") == 1


def test_a_replaced_shell_is_marked_as_new(page: Page, shell: str) -> None:
    """The browser reconnects with an unknown ID."""
    run(page, "echo before")
    shows(page, "before")
    page.evaluate("""addEventListener("pagehide", () => {
      const key = Object.keys(sessionStorage).find((one) => one.startsWith("terminal:"));
      sessionStorage[key] = JSON.stringify({ ...JSON.parse(sessionStorage[key]), id: "another" });
    })""")
    page.reload()
    expect(page.locator("[data-terminal-state]")).to_have_text(
        "This is a new shell. The previous shell has ended."
    )
    shows(page, "before")
    shows(page, "── This is a new shell.")


def test_the_terminal_can_be_searched_and_left_by_keyboard(page: Page, shell: str) -> None:
    run(page, "echo needle")
    shows(page, "needle")
    rows = screen(page).locator("> div").count()
    page.keyboard.press("Control+Shift+F")
    page.keyboard.type("needle")
    page.keyboard.press("Enter")
    expect(page.locator(".xterm-selection > div").first).to_be_attached()
    # The search field does not resize the terminal, which would clear the selection.
    assert screen(page).locator("> div").count() == rows
    page.keyboard.press("Escape")
    # Escape and Tab belong to the shell. These keys leave the terminal.
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "xterm-helper-textarea"
    page.keyboard.press("Control+Shift+Enter")
    expect(page.get_by_role("button", name="Find")).to_be_focused()
    page.get_by_role("button", name="Screen reader").press("Enter")
    expect(page.locator(".xterm-accessibility")).to_be_attached()


class FakeShell(FakeConsole):
    """The server side of the terminal of a page."""

    def __init__(self, page: Page) -> None:
        super().__init__(page, "/terminal")

    def begin(self, at: int = 0, typed: int = 0, *, new: bool = False, **more: Any) -> None:
        """Announce a terminal: the one the page knows, or a new one."""
        about = {"id": "one", "new": new, "at": at, "typed": typed, "container": "app"}
        self.say(terminal=about | {"tty": True, "reads": True} | more)

    def write(self, text: bytes) -> None:
        self.sockets[-1].send(text)

    def typed(self) -> bytes:
        """Return the input received on the open socket."""
        return b"".join(one for one in self.heard[-1] if isinstance(one, bytes))

    def has_typed(self, wanted: bytes) -> None:
        # Any call to the page also dispatches pending events.
        what = f"{wanted[-40:]!r}, {len(wanted)} in all, is typed"
        eventually(lambda: self.page.title() and self.typed() == wanted, what)

    def has_heard(self, **wanted: Any) -> None:
        eventually(lambda: self.page.title() and wanted in self.heard[-1], f"{wanted}")


@pytest.fixture
def fake_shell(page: Page, start: StartPod, apart: None) -> FakeShell:
    made = FakeShell(page)
    page.goto(terminal(start("shells")))
    assert made.greeted(1) == {"begin": "en"}
    made.begin(new=True)
    expect(page.locator("[data-terminal-state]")).to_have_text("Connected to app")
    return made


def test_input_and_output_resume_after_a_disconnect(page: Page, fake_shell: FakeShell) -> None:
    state = page.locator("[data-terminal-state]")
    page.keyboard.type("ls")
    fake_shell.has_typed(b"ls")
    fake_shell.write(b"hello ")
    fake_shell.has_heard(ack=6)
    fake_shell.say(taken=1)
    shows(page, "hello")
    assert fake_shell.cut() == {"begin": "en", "id": "one", "at": 6}
    expect(state).to_have_text("Connection lost. The shell keeps running for one minute.")
    expect(page.locator("#announce")).to_have_text(re.compile("Connection lost."))
    page.keyboard.type("x")
    # The server received one byte more than it has acknowledged.
    fake_shell.begin(6, 2)
    expect(state).to_have_text("Connected to app")
    fake_shell.has_typed(b"x")
    fake_shell.write(b"again ")
    fake_shell.has_heard(ack=12)
    fake_shell.cut()
    # Part of the output was lost.
    fake_shell.begin(100, 3)
    fake_shell.write(b"far")
    fake_shell.has_heard(ack=103)
    shows(page, re.compile("hello again.*── Some output is missing here. ──.*far"))
    # Input for one shell is not sent to another.
    page.keyboard.type("for this one")
    fake_shell.has_typed(b"for this one")
    fake_shell.cut()
    fake_shell.begin(new=True, id="two")
    expect(state).to_have_text("This is a new shell. The previous shell has ended.")
    page.keyboard.type("y")
    fake_shell.has_typed(b"y")
    fake_shell.write(b"new")
    fake_shell.has_heard(ack=3)
    assert fake_shell.cut() == {"begin": "en", "id": "two", "at": 3}


def test_pending_input_and_partial_output_survive_a_reload(
    page: Page, fake_shell: FakeShell
) -> None:
    """Covers unacknowledged input, and incomplete characters and escape sequences."""
    page.keyboard.type("abc")
    fake_shell.has_typed(b"abc")
    at = 0
    halves = [(b"\xe4\xbd", b"\xa0.", "你."), (b"\xf0\x9f\x92", b"\xa9.", "💩.")]
    halves += [
        (b"\x1b[3", b"1mred.", "red."),
        (b"\x1b]0;ti", b"tle\x07t.", "t."),
        (b"\x1b", b"(Bu.", "u."),
    ]
    for loads, (first, second, shown) in enumerate(halves, 2):
        fake_shell.write(first)
        at += len(first)
        fake_shell.has_heard(ack=at)
        page.reload()
        assert fake_shell.greeted(loads) == {"begin": "en", "id": "one", "at": at}
        fake_shell.begin(at)
        fake_shell.has_typed(b"abc")
        fake_shell.write(second)
        at += len(second)
        shows(page, shown)
        fake_shell.has_heard(ack=at)
    assert screen(page).inner_text().split() == ["你.💩.red.t.u."]
    fake_shell.cut()
    fake_shell.begin(at, 3)
    page.keyboard.type("d")
    fake_shell.has_typed(b"d")
    # Another user does not get this state.
    page.evaluate("""addEventListener("pagehide", () => {
      const key = Object.keys(sessionStorage).find((one) => one.startsWith("terminal:"));
      sessionStorage[key] = JSON.stringify({ ...JSON.parse(sessionStorage[key]), account: "x" });
    })""")
    page.reload()
    assert fake_shell.greeted(8) == {"begin": "en"}


def test_terminal_errors_are_explained(page: Page, fake_shell: FakeShell) -> None:
    state, again = page.locator("[data-terminal-state]"), page.locator("[data-terminal-again]")
    missing = page.locator("[data-terminal-missing]")
    expect(again).to_be_hidden()
    page.keyboard.type("rm x")
    fake_shell.has_typed(b"rm x")
    fake_shell.write(b"\x1b[?1h\x1b[?2004h")
    fake_shell.has_heard(ack=13)
    words = "No shell found in this container."
    fake_shell.say(ended={"code": 127, "missing": True, "message": words})
    expect(missing).to_be_visible()
    expect(state).to_have_text(words)
    expect(page.locator("#announce")).to_have_text(words)
    expect(again).to_have_text("New shell")
    again.click()
    expect(state).to_have_text("Connecting")
    expect(missing).to_be_hidden()
    expect(again).to_be_hidden()
    assert page.evaluate("document.activeElement.className") == "xterm-helper-textarea"
    assert fake_shell.greeted(2) == {"begin": "en"}
    fake_shell.begin(new=True, id="two")
    # Input for the old shell is not sent, and the modes of its program are reset.
    page.keyboard.press("ArrowUp")
    fake_shell.has_typed(b"\x1b[A")
    paste(page, "a\nb")
    expect(page.locator("[data-terminal-lines]")).to_have_text("a\nb")
    page.get_by_role("dialog").get_by_role("button", name="Paste").click()
    fake_shell.has_typed(b"\x1b[Aa\rb")
    paste(page, "c\nd")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.type("e")
    fake_shell.has_typed(b"\x1b[Aa\rbe")
    # The shell continues in another window, and can be taken over again.
    words = "This terminal was opened in another window."
    fake_shell.say(error={"code": 409, "message": words})
    expect(state).to_have_text(words)
    expect(again).to_have_text("Continue here")
    fake_shell.end(1008)
    page.keyboard.type("unheard")
    again.click()
    assert fake_shell.greeted(3) == {"begin": "en", "id": "two", "at": 0}
    fake_shell.begin(0, 7, id="two")
    expect(state).to_have_text("Connected to app")
    page.keyboard.type("z")
    fake_shell.has_typed(b"z")
    for number in range(7):
        words = f"There are too many, {number}."
        fake_shell.say(error={"code": 429, "message": words})
        expect(state).to_have_text(words)
        if number < 6:
            assert fake_shell.cut() == {"begin": "en", "id": "two", "at": 0}
    expect(again).to_have_text("Retry")
    fake_shell.end(1013)
    assert fake_shell.typed() == b""
    # Another user does not get the shell.
    again.click()
    assert fake_shell.greeted(10) == {"begin": "en"}
    fake_shell.begin(new=True, id="three")
    page.evaluate("sessionStorage['terminal:page:/another'] = '{}'")
    fake_shell.say(error={"code": 401, "message": "Sign in again."})
    expect(state).to_have_text("Sign in again.")
    assert page.evaluate("sessionStorage['terminal:page:/another']") is None
    page.reload()
    assert fake_shell.greeted(11) == {"begin": "en"}


def test_input_waits_for_acknowledgements(page: Page, fake_shell: FakeShell) -> None:
    toast, much = page.locator(".toast"), "x" * 500_000
    paste(page, much)
    fake_shell.has_typed(b"x" * 65_536)
    assert {len(one) for one in fake_shell.heard[-1] if isinstance(one, bytes)} == {16_384}
    fake_shell.say(taken=40_000)
    fake_shell.has_typed(b"x" * 105_536)
    for _ in range(3):
        paste(page, much)
    expect(toast).to_have_count(0)
    paste(page, much)
    expect(toast).to_contain_text("The input is too long. Send it in smaller parts.")
    page.reload()
    fake_shell.greeted(2)
    fake_shell.begin(0, 40_000)
    # The page keeps as much input as can be in flight.
    fake_shell.has_typed(b"x" * 65_536)
    paste(page, "y" * 600_000)
    expect(toast).to_contain_text("The input is too long. Send it in smaller parts.")


def test_output_of_a_process_without_tty_is_shown(page: Page, fake_shell: FakeShell) -> None:
    fake_shell.cut()
    fake_shell.begin(new=True, tty=False, reads=False, id="two")
    state = page.locator("[data-terminal-state]")
    expect(state).to_have_text("Connected. This container does not accept input.")
    page.keyboard.type("unheard")
    fake_shell.write(b"\x1b[2J\x1b[Hone\ntwo\n")
    fake_shell.has_heard(ack=15)
    rows = screen(page).locator("> div")
    expect(rows.nth(0)).to_have_text(re.compile(r"^one\s*$"))
    expect(rows.nth(1)).to_have_text(re.compile(r"^two\s*$"))
    assert fake_shell.typed() == b""


def test_special_keys_are_available_on_phones(page: Page, fake_shell: FakeShell) -> None:
    page.set_viewport_size({"width": 390, "height": 844})

    def press(*names: str) -> None:
        for name in names:
            page.locator(f"[data-key={name}]").click()

    area = page.locator(".xterm-helper-textarea")
    # The phone's keyboard closes when the focus is lost, even for a moment.
    area.evaluate("(one) => one.addEventListener('blur', () => one.classList.add('left'))")
    arrows = ("ArrowUp", "ArrowDown", "ArrowRight", "ArrowLeft")
    press("Escape", "Tab", *arrows)
    sent = b"\x1b\t\x1b[A\x1b[B\x1b[C\x1b[D"
    fake_shell.has_typed(sent)
    fake_shell.write(b"\x1b[?1h")
    fake_shell.has_heard(ack=5)
    press(*arrows, "Control")
    control = page.locator("[data-key=Control]")
    expect(control).to_have_attribute("aria-pressed", "true")
    # Modifiers apply to one key. A digit has no control character.
    page.keyboard.type("ac")
    expect(control).to_have_attribute("aria-pressed", "false")
    press("Control")
    page.keyboard.type("1")
    press("Control", "Control")
    page.keyboard.type("a")
    # In the terminal, these are not shortcuts of the page.
    page.keyboard.press("Control+k")
    page.keyboard.press("Meta+k")
    page.keyboard.type(":")
    assert "left" not in (area.get_attribute("class") or "")
    page.locator("[data-key=Tab]").press("Enter")
    expect(area).to_be_focused()
    fake_shell.has_typed(sent + b"\x1bOA\x1bOB\x1bOC\x1bOD\x01c1a\x0b:\t")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_copy_paste_and_find_work(page: Page, fake_shell: FakeShell) -> None:
    said, toast = page.locator("#announce"), page.locator(".toast")
    page.evaluate(_CLIPBOARD)
    fake_shell.write(b"needle\r\n" * 3)
    fake_shell.has_heard(ack=24)
    field = page.get_by_role("searchbox", name="Find in the terminal")
    page.get_by_role("button", name="Find").click()
    expect(field).to_be_focused()
    chosen, rows = page.locator(".xterm-selection > div").first, screen(page).locator("> div")
    field.fill("needle")
    for way, row in (("Next", 0), ("Next", 1), ("Previous", 0)):
        page.get_by_role("button", name=way).click()
        top = rows.nth(row).evaluate("(one) => `${one.offsetTop}px`")
        expect(chosen).to_have_css("top", top)
    page.get_by_role("button", name="Close").click()
    expect(field).to_be_hidden()
    assert page.evaluate("document.activeElement.className") == "xterm-helper-textarea"
    page.get_by_role("button", name="Copy").click()
    expect(said).to_have_text("Copied")
    assert page.evaluate("clipboard_") == "needle"
    for keys in ("Control+Shift+C", "Control+Insert"):
        page.evaluate("clipboard_ = ''")
        page.locator(".xterm-helper-textarea").press(keys)
        page.wait_for_function("clipboard_ === 'needle'")
    page.get_by_role("button", name="Paste").click()
    fake_shell.has_typed(b"needle")
    page.evaluate("clipboard_ = null")
    page.get_by_role("button", name="Paste").click()
    refused = (
        "Your browser blocked clipboard access. Use the browser menu or the keyboard "
        "shortcuts of the browser instead."
    )
    expect(toast).to_contain_text(refused)
    # Typing clears the selection.
    page.get_by_role("button", name="Find").click()
    page.keyboard.press("Enter")
    page.locator(".toast [data-dismiss]").click()
    page.get_by_role("button", name="Copy").click()
    expect(toast).to_contain_text(refused)
    reader = page.get_by_role("button", name="Screen reader")
    for pressed, count in (("true", 1), ("false", 0)):
        reader.click()
        page.reload()
        expect(reader).to_have_attribute("aria-pressed", pressed)
        expect(page.locator(".xterm-accessibility")).to_have_count(count)
    page.get_by_role("button", name="Find").click()
    field.fill("nothing")
    page.keyboard.press("Enter")
    expect(said).to_have_text("No matches found.")


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


def test_pasting_several_lines_requires_confirmation(page: Page, shell: str) -> None:
    dialog = page.get_by_role("dialog", name="Paste multiple lines?")
    paste(page, "echo o'n'e\necho t'w'o\n")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    paste(page, "echo o'n'e\necho t'w'o\n")
    dialog.get_by_role("button", name="Paste").click()
    shows(page, "two")
    assert screen(page).inner_text().count("o'n'e") == 1


def test_end_sequences_are_removed_from_pasted_text(page: Page, shell: str) -> None:
    sent = bytearray()

    def keep(data: str | bytes) -> None:
        sent.extend(data if isinstance(data, bytes) else b"")

    page.on("websocket", lambda socket: socket.on("framesent", keep))
    page.reload()
    shows(page, "# ")
    # Until this is rendered, the page does not know that the program supports bracketed paste.
    run(page, "printf '\\033[?2004hre''ady\\n'; cat")
    shows(page, "ready")
    paste(page, "a\x1b[201~\x9b201~\rb\x03c")
    page.keyboard.press("Enter")
    shows(page, "bc")
    # Both lines are inside the brackets, nothing has ended `cat`, and no dialog was shown.
    assert b"\x1b[200~a[201~201~\rbc\x1b[201~" in bytes(sent)
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_escape_sequences_have_no_effect_outside_the_terminal(page: Page, shell: str) -> None:
    title = page.title()
    page.evaluate("navigator.clipboard?.writeText('mine').catch(() => {})")
    for first in range(0, len(HOSTILE), 8):
        run(page, f"printf '{''.join(HOSTILE[first : first + 8])}'")
    run(page, "clear; echo o'v'er")
    expect(screen(page)).to_contain_text(re.compile(r"over\s*\S*#\s*$"))
    assert page.title() == title
    assert page.locator(".xterm a, .xterm iframe, .xterm img").count() == 0
    assert "zqx" not in page.content()
    # A response would appear at the prompt as if it had been typed.
    run(page, "echo =; read x; echo =$x=")
    page.keyboard.press("Enter")
    shows(page, "==")
    colour = "getComputedStyle(document.querySelector('.xterm-rows')).color"
    before = page.evaluate(colour)
    run(page, "printf '\\033]10;#ff0000\\007'; echo d'o'ne")
    shows(page, "done")
    assert page.evaluate(colour) == before


def test_colors_are_shown_without_inline_styles(page: Page, shell: str) -> None:
    """A policy violation fails the test."""
    run(page, "printf '\\033[31mred\\033[38;5;46mgreen\\033[38;2;10;200;250mtrue\\033[0m\\n'")
    shows(page, "redgreentrue")
    ink = "getComputedStyle(document.querySelector('.xterm-rows')).color"
    before = page.evaluate(ink)
    page.emulate_media(color_scheme="dark")
    eventually(lambda: page.evaluate(ink) != before, "the screen is dark, too")
    shows(page, "redgreentrue")


def test_the_terminal_fits_a_phone(page: Page, shell: str) -> None:
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


def test_the_terminal_resizes_with_the_window(page: Page, shell: str) -> None:
    run(page, "echo =$COLUMNS=")
    expect(screen(page)).to_contain_text(re.compile(r"=\d{3}="))
    page.set_viewport_size({"width": 700, "height": 800})

    def is_narrow() -> bool:
        run(page, "echo =$COLUMNS=")
        return re.search(r"=\d{2}=", screen(page).inner_text()) is not None

    eventually(is_narrow, "the shell knows its new size")


def test_a_terminal_closes_when_the_permission_is_revoked(
    console: Console, page: Page, start: StartPod
) -> None:
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
    expect(state).to_contain_text("You no longer have permission to view this page.", timeout=2000)
    run(page, "echo x")
    assert "echo x" not in screen(page).inner_text()
    Person(page, LOOKS[0], console).picture("terminal-ended")


def test_websockets_from_other_origins_are_rejected(
    console: Console, page: Page, start: StartPod
) -> None:
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


def test_the_kubectl_command_is_shown_without_scripts(
    console: Console, browser: Chromium, page: Page, start: StartPod
) -> None:
    address = terminal(start("shells"))
    state = page.context.storage_state()
    context = browser.new_context(java_script_enabled=False, storage_state=state)
    plain = context.new_page()
    plain.goto(address)
    expect(plain.get_by_text("The terminal requires JavaScript.")).to_be_visible()
    expect(plain.get_by_text("kubectl exec -it shells -c app -n default -- sh")).to_be_visible()
    expect(plain.locator(".tty")).to_be_hidden()
    context.close()
