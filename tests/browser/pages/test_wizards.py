"""Wizards in a browser: fields that scripts exchange, drafts, and the keyboard."""

import re

from playwright.sync_api import FilePayload, Page, expect

from tests.browser.console import Console, sign_in
from tests.browser.keyboard import tab_to
from tests.browser.wizard_forms import NEW, field


def begin(console: Console, page: Page, name: str) -> None:
    """Open the wizard and fill in its first step."""
    sign_in(page, console, "")
    page.goto(console.url + NEW)
    page.fill(field(page, "name"), name)
    page.keyboard.press("Enter")
    page.wait_for_url("**/containers")


def test_a_deployment_with_two_containers_and_a_service_is_created(
    console: Console, page: Page
) -> None:
    begin(console, page, "two-containers")
    page.fill(field(page, "containers.0.image"), "example/web:1")
    page.get_by_role("button", name="Add port", exact=True).click()
    expect(page.locator(field(page, "containers.0.ports.0.name"))).to_be_focused()
    page.keyboard.type("http")
    page.fill(field(page, "containers.0.ports.0.containerPort"), "8080")
    page.get_by_role("button", name="Add container", exact=True).click()
    expect(page.locator(field(page, "containers.1.image"))).to_be_visible()
    page.fill(field(page, "containers.1.image"), "example/log:2")
    page.fill(field(page, "containers.1.name"), "log")
    page.locator('[value="go.network"]').click()
    page.get_by_label("Create a Service for this workload").check()
    expect(page.locator(field(page, "service.ports.0.port"))).to_have_value("8080")
    page.get_by_role("button", name="Skip to review").click()
    page.get_by_role("button", name="Create 2 objects").click()
    page.wait_for_url("**/created")
    expect(page.get_by_role("link", name="two-containers").first).to_be_visible()
    page.goto(f"{console.url}/clusters/host/projects/default/deployments/two-containers/edit/form")
    page.locator('[value="go.containers"]').click()
    expect(page.locator(field(page, "containers.1.image"))).to_have_value("example/log:2")


def test_a_change_of_the_source_shows_its_fields_and_keeps_the_others(
    console: Console, page: Page
) -> None:
    begin(console, page, "sources")
    page.get_by_role("button", name="Add variable").click()
    page.fill(field(page, "containers.0.env.0.name"), "PASSWORD")
    page.select_option(field(page, "containers.0.env.0.source"), "secret")
    page.fill(field(page, "containers.0.env.0.source.secret.key"), "password")
    expect(page.locator(field(page, "containers.0.env.0.name"))).to_have_value("PASSWORD")
    page.get_by_role("button", name="Next: Storage").click()
    problems = page.locator("#problems")
    expect(problems).to_be_focused()
    problems.get_by_role("link", name="Image").click()
    assert page.url.endswith("#w-containers-0-image")


def test_typed_values_are_saved_as_a_draft(console: Console, page: Page) -> None:
    begin(console, page, "draft-of-mine")
    page.fill(field(page, "containers.0.image"), "example/kept:7")
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved.")
    page.goto(f"{console.url}/account")
    page.get_by_role("link", name=re.compile("draft-of-mine")).click()
    expect(page.locator(field(page, "containers.0.image"))).to_have_value("example/kept:7")


def test_answers_of_registries_are_shown_without_loading_the_page(
    console: Console, page: Page
) -> None:
    sign_in(page, console, "")
    page.goto(f"{console.url}/clusters/host/new/secrets?namespace=default")
    page.locator(f'{field(page, "kind")}[value="registry"]').check()
    row = "kind.registry.auths.0"
    page.fill(field(page, f"{row}.key"), "registry.invalid")
    page.fill(field(page, f"{row}.username"), "bot")
    page.get_by_role("button", name="Verify").click()
    answer = page.get_by_role("status").filter(has_text="Enter the user name and the password.")
    expect(answer).to_be_visible()
    page.fill(field(page, f"{row}.password"), "secret")
    page.get_by_role("button", name="Verify").press("Enter")
    expect(page.get_by_text("The host registry.invalid was not found.")).to_be_visible()
    expect(page.locator(field(page, f"{row}.password"))).to_have_value("secret")
    page.goto(f"{console.url}{NEW}&step=containers")
    page.fill(field(page, "containers.0.image"), "registry.invalid/shop/api:1")
    page.keyboard.press("Tab")
    expect(page.get_by_text("The host registry.invalid was not found.")).to_be_visible()
    page.fill(field(page, "containers.0.image"), "127.0.0.1/shop/api:1")
    page.get_by_role("button", name="Check image").click()
    expect(page.get_by_text("127.0.0.1 has a private address.")).to_be_visible()


def test_rows_are_moved_and_added_by_keyboard(console: Console, page: Page) -> None:
    begin(console, page, "by-keyboard")
    page.fill(field(page, "containers.0.name"), "first")
    page.get_by_role("button", name="Add container", exact=True).click()
    page.fill(field(page, "containers.1.name"), "second")
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator(field(page, "containers.0.name"))).to_have_value("second")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#problems")).to_be_visible()


def test_a_deployment_is_created_with_the_keyboard_only(console: Console, page: Page) -> None:
    sign_in(page, console, "")
    page.goto(console.url + NEW)
    tab_to(page, page.locator(field(page, "name")))
    page.keyboard.type("only-keys")
    page.keyboard.press("Enter")
    page.wait_for_url("**/containers")
    tab_to(page, page.locator(field(page, "containers.0.image")))
    page.keyboard.type("example/web:1")
    adder = page.get_by_role("button", name="Add port", exact=True)
    tab_to(page, adder)
    page.keyboard.press("Enter")
    expect(page.locator(field(page, "containers.0.ports.0.name"))).to_be_focused()
    page.keyboard.type("http")
    page.keyboard.press("Tab")
    page.keyboard.type("8080")
    for step in ("storage", "network", "scheduling", "settings", "review"):
        page.keyboard.press("Control+Enter")
        page.wait_for_url(f"**/{step}")
        if step != "review":
            # Without a focused field, keys go to the page.
            tab_to(page, page.locator(".foot .primary"))
    tab_to(page, page.get_by_role("button", name="Create 1 object", exact=True))
    page.keyboard.press("Enter")
    page.wait_for_url("**/created")
    tab_to(page, page.get_by_role("link", name="only-keys"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/deployments/only-keys*")


def test_the_drawing_of_a_network_policy_follows_what_is_typed(
    console: Console, page: Page
) -> None:
    sign_in(page, console, "")
    page.goto(f"{console.url}/clusters/host/new/networkpolicies?namespace=default")
    before, after = (page.locator(f'svg[data-when="{one}"]').first for one in ("before", "after"))
    expect(after).to_be_visible()
    expect(before).to_be_hidden()
    page.locator(".switch label", has_text="Before").click()
    expect(before).to_be_visible()
    expect(after).to_be_hidden()
    page.locator(".switch label", has_text="After").click()
    rule = "types.ingress.ingress.0"
    page.select_option(field(page, f"{rule}.from.0.kind"), "block")
    page.fill(field(page, f"{rule}.from.0.kind.block.cidr"), "192.0.2.0/24")
    expect(after).to_contain_text("192.0.2.0/24")
    page.get_by_role("button", name="Add port").click()
    page.fill(field(page, f"{rule}.ports.0.port"), "8443")
    expect(after).to_contain_text("TCP 8443")
    page.select_option(field(page, "preset"), "deny")
    expect(page.locator('svg[data-when="after"] .way')).to_have_count(0)


def test_files_become_values_of_a_config_map(console: Console, page: Page) -> None:
    sign_in(page, console, "")
    page.goto(f"{console.url}/clusters/host/new/configmaps?namespace=default")
    page.fill(field(page, "name"), "from-files")
    files: list[FilePayload] = [
        {"name": "app.conf", "mimeType": "text/plain", "buffer": b"a = 1\n"},
        {"name": "logo.png", "mimeType": "image/png", "buffer": b"\x89PNG\xff"},
    ]
    page.get_by_label("Add files as values").set_input_files(files)
    expect(page.get_by_text("Binary, 5 bytes")).to_be_visible()
    expect(page.locator("textarea").filter(has_text="a = 1")).to_be_visible()
    page.get_by_role("button", name="Remove logo.png").click()
    expect(page.get_by_text("Binary, 5 bytes")).to_be_hidden()
    expect(page.locator(field(page, "name"))).to_have_value("from-files")
