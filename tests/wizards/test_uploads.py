"""Files become values of ConfigMaps and Secrets."""

import base64

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.datastructures import MultiValueDict

from console.ui.wizard.wizard import Wizard, WizardDraft
from console.wizards.configuration import CONFIG_MAP
from console.wizards.secrets import SECRET
from console.wizards.uploads import MAX_BYTES
from tests.support.wizard_forms import offline, step_fields, step_html

BINARY = b"\x89PNG\xff"


def uploaded(wizard: Wizard, name: str, /, **files: bytes) -> WizardDraft:
    draft = WizardDraft.of(wizard, offline(), [])
    upload(draft, name, "", **files)
    return draft


def upload(draft: WizardDraft, name: str, act: str, /, **files: bytes) -> None:
    """Submit files, by name with `__` for dots."""
    [step] = draft.wizard.steps
    post = step_fields(draft, step)
    post[name] = ""
    found = [SimpleUploadedFile(one.replace("__", "."), text) for one, text in files.items()]
    draft.submit(step, post, act, files=MultiValueDict({name: found}), leaves=not act)


def html(draft: WizardDraft) -> str:
    return step_html(draft, draft.wizard.steps[0])


def test_texts_and_binary_files_become_values_of_a_config_map() -> None:
    draft = uploaded(
        CONFIG_MAP, "files", app__conf=b"a = 1\n", logo__png=BINARY, umlaut="ü".encode()
    )
    assert draft.main["data"] == {"app.conf": "a = 1\n", "umlaut": "ü"}
    assert draft.main["binaryData"] == {"logo.png": base64.b64encode(BINARY).decode()}
    assert "Binary, 5\N{NO-BREAK SPACE}bytes" in html(draft) and not draft.yaml_only()
    upload(draft, "files", "", logo__png=b"text", app__conf=BINARY)
    assert draft.main["data"] == {"umlaut": "ü", "logo.png": "text"}
    assert [*draft.main["binaryData"]] == ["app.conf"]
    upload(draft, "files", "files.drop.app.conf")
    assert "binaryData" not in draft.main


def test_binary_files_become_data_of_a_secret() -> None:
    draft = uploaded(SECRET, "kind.opaque.files", token=b"abc", key=BINARY)
    assert draft.main["stringData"] == {"token": "abc"}
    assert draft.main["data"] == {"key": base64.b64encode(BINARY).decode()}


def test_files_that_are_too_large_together_are_refused_and_other_values_kept() -> None:
    draft = uploaded(CONFIG_MAP, "files", first=b"x" * (MAX_BYTES - 1))
    upload(draft, "files", "", second=b"xx")
    assert [*draft.main["data"]] == ["first"]
    assert "Nothing was added: all values together would have 1,048,577 bytes." in html(draft)
    [(_part, problem)] = [
        one for one in draft.errors(CONFIG_MAP.steps[0]) if "Nothing was added" in str(one[1])
    ]
    assert "Use at most 1,048,576 bytes." in str(problem)
    upload(draft, "files", "", third=b"x")
    assert [*draft.main["data"]] == ["first", "third"] and "Nothing was added" not in html(draft)


def test_a_file_whose_name_is_no_key_is_refused() -> None:
    draft = WizardDraft.of(CONFIG_MAP, offline(), [])
    upload(draft, "files", "", **{"a b": b"x", "ok": b"y"})
    assert draft.main["data"] == {} or "ok" not in draft.main["data"]
    assert "The file name “a b” can&#x27;t be a key." in html(draft)


@pytest.mark.parametrize("kept", ["x", "1", '["size", "x"]', '["other", 1]', "[" * 9999])
def test_a_kept_problem_of_another_form_is_reported_in_general(kept: str) -> None:
    draft = WizardDraft.of(CONFIG_MAP, offline(), [])
    draft.inputs["form"] = {"files": kept}
    assert "The files were not added. Choose them again." in html(draft)


def test_content_of_other_types_is_kept() -> None:
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "data": "x",
        "binaryData": {"a": 1, "b": "?"},
    }
    draft = WizardDraft.of(CONFIG_MAP, offline(), [manifest])
    upload(draft, "files", "", new=b"x")
    assert (draft.main["data"], draft.main["binaryData"]) == ("x", {"a": 1, "b": "?"})
