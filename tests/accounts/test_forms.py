"""What a form does not offer is refused, and never replaced by a default."""

from django.test import RequestFactory

from accounts.forms import Field, Form

CHOICES = [("viewer", "Viewer"), ("admin", "Admin")]


def read(**given: str) -> Form:
    form = Form([Field("role", "Role", "select", "viewer", choices=CHOICES), Field("name", "Name")])
    form.read(RequestFactory().post("/", given))
    return form


def test_what_is_offered_is_taken() -> None:
    form = read(role="admin", name=" zoe ")
    assert form.is_right
    assert (form["role"], form["name"]) == ("admin", "zoe")


def test_nothing_else_is() -> None:
    for given in ({"role": "junk"}, {"role": ""}, {}, {"role": "Viewer"}, {"role": "viewer "}):
        form = read(**given)
        assert [field.name for field in form.wrong] == ["role"], given
