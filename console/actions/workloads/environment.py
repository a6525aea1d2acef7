"""The action that edits environment variables of a workload's containers.

https://kubernetes.io/docs/tasks/inject-data-application/define-environment-variable-container/
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.workloads.templates import (
    MOST_ROWS,
    EditTemplate,
    TemplateContainer,
    TemplateForm,
)
from console.kube.gvr import CONFIG_MAPS
from console.ui.core.manifests import mapping, mappings_at
from console.ui.core.text import escape_invisible, has_no_invisible
from console.ui.forms.forms import ChoiceField, LinesField, NumberField, TextField, is_line
from console.ui.forms.row_forms import MOST, MOST_NEW, POSITION, FormRows, SubmittedRow, duplicated

#: Maximum characters of a value and of a name. Kubernetes does not limit the length of names.
LONGEST_VALUE, LONGEST_NAME = 64 * 1024, 1024
VALUE, KEPT = "value", "kept"
#: Sources of a value, by field of `valueFrom`.
REFERENCES: Mapping[str, str | Promise] = {
    "configMapKeyRef": gettext_lazy("Key of a ConfigMap"),
    "secretKeyRef": gettext_lazy("Key of a Secret"),
}
#: Id of the datalist with suggested names.
CONFIG_MAP_NAMES = "config-map-names"
#: Fields of a row that don't apply to a source. References use all fields except the value.
_OF_OTHERS = {VALUE: ("object", "key"), KEPT: (VALUE, "object", "key")}
#: Field of a row, by path in the variable.
_CAUSES = {
    "": "name",
    "name": "name",
    "value": "value",
    "valueFrom": "source",
    **{f"valueFrom.{ref}": "object" for ref in REFERENCES},
    **{f"valueFrom.{ref}.key": "key" for ref in REFERENCES},
}


class EnvironmentForm(TemplateForm):
    edited_container_fields = ("env",)

    def __init__(
        self,
        data: QueryDict | None,
        spec: Mapping[str, Any],
        place: Sequence[str],
        names: Collection[str] = (),
    ) -> None:
        super().__init__(data, spec, place, names)
        self.suggestions = {CONFIG_MAP_NAMES: names}
        self._rows = {one.stem: self._rows_of(one) for one in self.containers}
        self.groups = tuple(self._rows.values())

    def _rows_of(self, container: TemplateContainer) -> FormRows:
        found = mappings_at(container.manifest, "env")
        return FormRows(
            self,
            container.stem,
            _fields,
            found=[{**_begins(one), POSITION: n} for n, one in enumerate(found, 1)],
            titles=[one["name"] for one in found],
            heading=container.title,
            add=_("Add a variable"),
            hint=_("A value can reference variables that are listed above it as $(NAME)."),
        )

    def can_represent(self, found: Mapping[str, Any]) -> bool:
        return (
            super().can_represent(found)
            and sum(len(one.get("env", ())) for group in found.values() for one in group)
            <= MOST_ROWS
        )

    def can_represent_container(self, container: Mapping[str, Any]) -> bool:
        env = container.get("env", [])
        return isinstance(env, list) and len(env) <= MOST and all(map(_is_variable, env))

    def new_container_values(self, container: TemplateContainer) -> Mapping[str, Any]:
        return {"env": [*self._variables(container)]}

    def _variables(self, container: TemplateContainer) -> Iterator[Mapping[str, Any]]:
        before, rows = (
            mappings_at(container.manifest, "env"),
            [*self._rows[container.stem].rows_to_keep()],
        )
        again = duplicated(rows, "name")
        for n, row in enumerate(rows):
            if not row.values["name"]:
                self.add_row_error(row, "name", _("Enter a name."))
            elif row.name in again:
                self.add_row_error(row, "name", _("A variable with this name already exists."))
            self.map_causes(f"{container.path}.env[{n}]", row, _CAUSES)
            yield self._variable(row, before[row.index] if row.index is not None else {})

    def _variable(self, row: SubmittedRow, before: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the new variable, including fields that the form does not show."""
        values, source = row.values, row.values["source"]
        found = {**before, "name": values["name"]}
        for part in _OF_OTHERS.get(source, (VALUE,)):
            if values[part] and row.changed(part):
                self.add_row_error(row, part, _("The selected source does not use this field."))
        if not row.changed("source", VALUE, "object", "key"):
            return found
        found.pop(VALUE, None)
        found.pop("valueFrom", None)
        if source == VALUE:
            return {**found, VALUE: values[VALUE]}
        for part, text in (("object", _("Enter a name.")), ("key", _("Enter a key."))):
            if not values[part]:
                self.add_row_error(row, part, text)
        named = {"name": values["object"], "key": values["key"]}
        return {**found, "valueFrom": {source: {**mapping(before, "valueFrom", source), **named}}}


def _fields(begins: Mapping[str, Any]) -> Mapping[str, forms.Field]:
    kept = {KEPT: begins["as_it_is"]} if begins.get("as_it_is") else {}
    sources = {VALUE: _("Value"), **REFERENCES, **kept}
    names = forms.TextInput({"list": CONFIG_MAP_NAMES, "data-only": " ".join(REFERENCES)})
    keys = forms.TextInput({"data-only": " ".join(REFERENCES)})
    values = forms.Textarea({"data-only": VALUE})
    return {
        "name": TextField(label=_("Name"), required=False, max_length=LONGEST_NAME),
        "source": ChoiceField(label=_("Source"), choices=[*sources.items()], initial=VALUE),
        "object": TextField(label=_("ConfigMap or Secret"), required=False, widget=names),
        "key": TextField(label=_("Key"), required=False, widget=keys),
        POSITION: NumberField(label=_("Position"), least=1, most=MOST + MOST_NEW, required=False),
        VALUE: LinesField(
            label=_("Value"), required=False, max_length=LONGEST_VALUE, widget=values
        ),
    }


def _begins(variable: Mapping[str, Any]) -> dict[str, Any]:
    found = {"name": variable["name"], "source": VALUE, VALUE: "", "object": "", "key": ""}
    source = mapping(variable, "valueFrom")
    if not source:
        value = variable.get(VALUE, "")
        if not has_no_invisible(value):
            return {**found, "source": KEPT, "as_it_is": _("A value that cannot be shown")}
        return {**found, VALUE: value}
    sort = next(iter(source))
    if sort not in REFERENCES:
        named = ", ".join(str(one) for one in mapping(source, sort).values())
        return {**found, "source": KEPT, "as_it_is": escape_invisible(f"{sort}: {named}")}
    ref = source[sort]
    return {**found, "source": sort, "object": ref.get("name", ""), "key": ref["key"]}


def _is_variable(variable: object) -> bool:
    if not isinstance(variable, dict) or not is_line(variable.get("name"), LONGEST_NAME):
        return False
    source = variable.get("valueFrom")
    if source is None:
        value = variable.get(VALUE, "")
        return isinstance(value, str) and len(value) <= LONGEST_VALUE
    refs = [mapping(source, sort) for sort in REFERENCES if sort in mapping(source)]
    return (
        len(mapping(source)) == 1
        and all(isinstance(ref, dict) for ref in source.values())
        and all(is_line(ref.get("name", "")) and is_line(ref.get("key")) for ref in refs)
    )


class EditEnvironment(EditTemplate):
    name = "environment"
    label = gettext_lazy("Edit environment")
    reads_also = (CONFIG_MAPS,)
    title_text = gettext_lazy("Edit the environment of %(kind)s %(name)s")
    form = EnvironmentForm
