"""Validation and rendering of forms."""

from django import forms
from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy, override

from console.ui.forms.forms import (
    CheckField,
    ChoiceField,
    CodeField,
    ConsoleForm,
    SecretField,
    TextField,
)

CHOICES = [("viewer", "Viewer"), ("admin", "Admin\u202e")]


class AForm(ConsoleForm):
    ids = "some-%s"

    name = TextField(label=gettext_lazy("Name"), help_text="A hint.", autocomplete="name")
    alias = TextField(label="Alias", required=False, widget=forms.EmailInput)
    role = ChoiceField(label="Role", choices=CHOICES, initial="viewer")
    secret = SecretField(label="Secret")
    code = CodeField(label="Code", keyboard="numeric")
    agreed = CheckField(label="Agreed", initial=True)


def sent(**given: str) -> AForm:
    data = QueryDict(mutable=True)
    data.update({"name": "zoe", "role": "admin", **given})
    return AForm(data)


def drawn(form: ConsoleForm) -> str:
    return render_to_string("ui/_form.html", {"form": form})


def test_valid_values_are_accepted() -> None:
    form = sent(name=" zoe ", agreed="on", secret=" as \0 typed ")
    assert form.is_valid() and form.page_status == 200
    assert form.cleaned_data == {
        "name": "zoe",
        "alias": "",
        "role": "admin",
        "secret": " as \0 typed ",
        "code": "",
        "agreed": True,
    }


def test_invalid_choices_are_refused() -> None:
    for given in ("junk", "", "Viewer", "viewer "):
        form = sent(role=given)
        assert (list(form.errors), form.page_status) == (["role"], 400), given
    assert list(AForm(QueryDict("name=zoe")).errors) == ["role"]
    for given in ("junk", "False", "0", "ON"):
        assert list(sent(agreed=given).errors) == ["agreed"], given
    for form in (sent(), sent(agreed="")):
        assert form.is_valid() and form.cleaned_data["agreed"] is False


def test_required_text_is_limited_in_length() -> None:
    assert list(sent(name=" \u202e\0 ").errors) == ["name"]
    assert sent(name="x" * 256).is_valid()
    assert sent(name="x" * 257).errors == {"name": ["Use at most 256 characters."]}


def test_invisible_characters_are_removed() -> None:
    form = sent(name="a\0b\u202ec")
    assert form.cleaned_data["name"] == "a b c" if form.is_valid() else False
    assert 'value="a b c"' in drawn(form)


def test_submitted_secret_is_not_rendered() -> None:
    html = drawn(sent(name="", secret="Canary-1", code="Canary-2"))
    assert "Canary" not in html


def test_fields_are_rendered_consistently() -> None:
    html = drawn(AForm())
    assert '<label for="some-name">Name</label>' in html
    assert 'aria-describedby="some-name_helptext"' in html and 'id="some-name_helptext"' in html
    assert html.count('class="input"') == 5
    assert 'type="email"' in html and 'inputmode="numeric"' in html
    assert '<option value="viewer" selected>' in html and "Admin⟨U+202E⟩" in html
    assert 'id="some-agreed" checked' in html
    assert "problem-line" not in html


def test_errors_are_shown_above_the_form_and_at_the_field() -> None:
    form = sent(name="")
    form.add_error(None, "Not now.")
    html = drawn(form)
    assert '<a href="#some-name">Name: This field is required.</a>' in html
    assert 'aria-invalid="true"' in html and 'id="some-name_error"' in html
    assert "<span>Not now.</span>" in html
    with override("zh-hans"):
        assert "名称" in drawn(form)
