"""Forms that edit selected fields of a pod template's containers and leave all other fields
unchanged.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.actions.workloads.base import GROUPS, WorkloadAction
from console.actions.workloads.rollouts import rollout_notes
from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl_patch
from console.ui.core.actions import ActionContext, Outcome
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mapping, mappings_at
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import ConsoleForm
from console.ui.forms.row_forms import SubmittedRow
from console.ui.forms.spec_forms import EditSpec, SpecForm

#: Maximum rows on one page. Each row has several fields, and Django accepts 1,000 fields by
#: default.
MOST_ROWS = 100
#: Maximum characters of the edited fields, as JSON.
LONGEST = 256 * 1024


@dataclass(frozen=True, slots=True)
class TemplateContainer:
    """The edited fields of a container. `at` is its index in its group, and `stem` the prefix of
    its form fields.
    """

    group: str
    at: int
    manifest: Mapping[str, Any]

    @property
    def name(self) -> str:
        return escape_invisible(str(self.manifest["name"]))

    @property
    def path(self) -> str:
        return f"{self.group}[{self.at}]"

    @property
    def stem(self) -> str:
        return f"{self.group}{self.at}"

    @property
    def title(self) -> str:
        words = {"name": self.name}
        return _("Init container %(name)s") % words if self.group != GROUPS[0] else self.name


class TemplateForm(SpecForm):
    """Form for container fields. `edited_container_fields` contains the edited fields of each
    container.
    """

    edited_fields: ClassVar[Sequence[str]] = GROUPS
    edited_container_fields: ClassVar[Sequence[str]]

    def __init__(
        self,
        data: QueryDict | None,
        spec: Mapping[str, Any],
        place: Sequence[str],
        names: Collection[str] = (),
    ) -> None:
        """Build the form from a pod spec at path `place` in the object. `names` are suggested names
        of other objects. Raise `Refused` if the form can't represent the spec.
        """
        super().__init__(data, spec, names)
        self._place = ".".join(place)

    @classmethod
    def editable_part(cls, spec: Mapping[str, Any]) -> dict[str, Any]:
        found = super().editable_part(spec)
        for group in GROUPS:
            if isinstance(found.get(group), list):
                found[group] = [cls._part_of_container(one) for one in found[group]]
        return found

    @classmethod
    def _part_of_container(cls, container: object) -> object:
        if not isinstance(container, dict):
            return container
        wanted = ("name", *cls.edited_container_fields)
        return {name: container[name] for name in wanted if container.get(name) is not None}

    def can_represent(self, found: Mapping[str, Any]) -> bool:
        groups = [found.get(group, []) for group in GROUPS]
        return (
            all(isinstance(group, list) for group in groups)
            and all(self._is_container(one) for group in groups for one in group)
            and len(json.dumps(found)) <= LONGEST
        )

    def _is_container(self, container: object) -> bool:
        return (
            isinstance(container, dict)
            and isinstance(container.get("name"), str)
            and container.keys() <= {"name", *self.edited_container_fields}
            and self.can_represent_container(container)
        )

    def can_represent_container(self, container: Mapping[str, Any]) -> bool:
        """Return True if the form can represent every value in `container`."""
        raise NotImplementedError

    @property
    def containers(self) -> list[TemplateContainer]:
        return [
            TemplateContainer(group, at, one)
            for group in GROUPS
            for at, one in enumerate(mappings_at(self.found, group))
        ]

    def new_values(self) -> Mapping[str, Any]:
        groups: dict[str, list[Mapping[str, Any]]] = {}
        for one in self.containers:
            wanted = {**one.manifest, **self.new_container_values(one)}
            # Empty fields are removed.
            container = {name: value for name, value in wanted.items() if value}
            groups.setdefault(one.group, []).append(container)
        return groups

    def new_container_values(self, container: TemplateContainer) -> Mapping[str, Any]:
        """Return the new values of a container's fields, and add errors for invalid ones."""
        raise NotImplementedError

    def map_causes(self, at: str, row: SubmittedRow, parts: Mapping[str, str]) -> None:
        """Like `SpecForm.map_causes`, with `at` relative to the pod spec."""
        super().map_causes(f"{self._place}.{at}", row, parts)


@dataclass(frozen=True, kw_only=True)
class EditTemplate(EditSpec, WorkloadAction):
    """Edit fields of a pod template. `affects_future_jobs` is True if the change only affects pods
    of future jobs.
    """

    affects_future_jobs: bool = False
    form: ClassVar[type[TemplateForm]]

    def spec_path(self, kind: ResourceKind) -> tuple[str, ...]:
        return kind.pod_spec

    def applicable(self, entry: Entry[Any]) -> bool:
        return bool(entry.projection.containers)

    def effect(self, kind: ResourceKind) -> str | Promise:
        if self.affects_future_jobs:
            return _("Future jobs use the change. Existing jobs are not changed.")
        return _("All pods are replaced according to the update strategy.")

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        return [*super().notes(subject), *rollout_notes(subject)]

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        if "changed" not in data:
            return ""
        return kubectl_patch(kind.gvr, key, [*self._operations(kind, data)], "json")

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        place = self.spec_path(subject.kind)
        spec = mapping(subject.live, *place)
        return self.form(data, spec, place, self.suggested_names(subject))

    async def run(self, context: ActionContext) -> Outcome:
        done = await super().run(context)
        if self.affects_future_jobs:
            return done
        return context.started(_("Saved %(kind)s %(name)s."))

    async def write(self, context: ActionContext, body: Mapping[str, Any]) -> None:
        version = body["metadata"]["resourceVersion"]
        same = {"op": "replace", "path": "/metadata/resourceVersion", "value": version}
        await context.json_patch(same, *self._operations(context.kind, context.data))

    def _operations(
        self, kind: ResourceKind, data: Mapping[str, Any]
    ) -> Iterator[Mapping[str, Any]]:
        """Yield JSON Patch operations (RFC 6902), which can address list items by index."""
        place, before = "/".join(("", *self.spec_path(kind))), data["found"]
        for name, value in data["changed"].items():
            if name not in GROUPS:
                yield from _replaced(place, {name: before.get(name)}, {name: value}, (name,))
                continue
            for at, (old, new) in enumerate(zip(before[name], value, strict=True)):
                if old != new:
                    path = f"{place}/{name}/{at}"
                    # Fails if another container took this index.
                    yield {"op": "test", "path": f"{path}/name", "value": old["name"]}
                    yield from _replaced(path, old, new, self.form.edited_container_fields)


def _replaced(
    path: str, old: Mapping[str, Any], new: Mapping[str, Any], names: Collection[str]
) -> Iterator[Mapping[str, Any]]:
    for name in names:
        before, after = old.get(name), new.get(name)
        if before != after:
            how = "remove" if not after else "replace" if before is not None else "add"
            operation = {"op": how, "path": f"{path}/{name}"}
            yield operation if how == "remove" else {**operation, "value": after}
