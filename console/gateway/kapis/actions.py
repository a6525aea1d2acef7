"""Run the actions and forms of pages with the values of a request."""

from collections.abc import Mapping, Sequence

from django.http import QueryDict

from console.gateway.errors import Refusal
from console.gateway.kapis.call import Call
from console.kube.errors import NotFound
from console.kube.gvr import Key
from console.ui.core.actions import Outcome
from console.ui.core.kind import ResourceKind
from console.ui.core.object_source import find_entry
from console.ui.core.permissions import Refused
from console.ui.core.subject import Subject
from console.ui.forms.forms import ConsoleForm
from console.views.actions import FIND_WAIT, not_applicable, run_as_user
from console.views.authorization import check_action

#: Values of a form by field. A sequence has several values.
Values = Mapping[str, str | Sequence[str]]


def form_data(values: Values) -> QueryDict:
    """Return the values as the data of a form."""
    data = QueryDict(mutable=True)
    for name, value in values.items():
        data.setlist(name, [value] if isinstance(value, str) else [*value])
    return data


def check_form(form: ConsoleForm) -> None:
    """Raise `Refusal` with all errors of an invalid form."""
    if not form.is_valid():
        raise invalid(form)


def invalid(form: ConsoleForm) -> Refusal:
    """Return the response for a form with errors."""
    texts = [
        str(text) if field == "__all__" else f"{field}: {text}"
        for field, found in form.errors.items()
        for text in found
    ]
    code = form.page_status
    return Refusal(code if code >= 400 else 400, " ".join(texts))


async def run_action(
    call: Call, kind: ResourceKind, name: str, key: Key, values: Values | None = None
) -> Outcome:
    """Run an action of the kind with the checks of its page. Raise `Denied`, `Refused`, `Refusal`
    and `ApiError`.
    """
    access, action = call.access, kind.actions_by_name[name]
    if not action.by_console(access, kind.gvr, key):
        check_action(kind, action, access, key)
    await action.check(access, kind.gvr, key)
    entry = await find_entry(kind, access, key, seconds=FIND_WAIT)
    if entry is None:
        raise NotFound(404, f'{kind.gvr.qualified} "{key.name}" not found')
    if not action.applicable(entry):
        raise Refused(not_applicable())
    subject = Subject(kind, key, entry, access, {}, access.cluster.name)
    form = action.make_form(subject, form_data(values or {}))
    if form is not None:
        check_form(form)
    data = form.cleaned_data if form is not None else {}
    uid = entry.projection.uid
    return await run_as_user(call.request, kind, action, key, access, uid, data)
