"""The action that sets the images of a workload's containers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.workloads.base import TEMPLATE_PATH, template_containers
from console.actions.workloads.rollouts import ReplacesPods
from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl, quoted
from console.ui.core.actions import ActionContext, Outcome
from console.ui.core.kind import ResourceKind
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import ConsoleForm, TextField

LONGEST = 1000


@dataclass(frozen=True, slots=True)
class ContainerImage:
    """A container of a pod template. `path` is its JSON Pointer in the object (RFC 6901)."""

    path: str
    name: str
    image: str

    @property
    def field(self) -> str:
        return f"image.{escape_invisible(self.name)}"


def containers(manifest: Mapping[str, Any]) -> Iterator[ContainerImage]:
    """Yield the containers of the pod template, init containers last."""
    for group, at, name, found in template_containers(manifest):
        if isinstance(image := found.get("image", ""), str):
            yield ContainerImage("/".join(("", *TEMPLATE_PATH, group, str(at))), name, image)


class ImageField(TextField):
    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=LONGEST, **options)

    def clean(self, value: Any) -> str:
        found = str(super().clean(value))
        if any(character.isspace() for character in found):
            raise ValidationError(_("An image name cannot contain spaces."))
        return found


class ImagesForm(ConsoleForm):
    """Form with the image of each container. A valid form's cleaned data contains the containers
    with new images under `changed`.
    """

    def __init__(self, data: QueryDict | None, found: Sequence[ContainerImage]) -> None:
        super().__init__(data, initial={one.field: one.image for one in found})
        self._found = found
        for one in found:
            self.fields[one.field] = ImageField(label=escape_invisible(one.name))

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        changed = [
            ContainerImage(one.path, one.name, given[one.field])
            for one in self._found
            if given.get(one.field, one.image) != one.image
        ]
        self.require_changes(changed, _("No changes: the workload already uses these images."))
        return {**given, "changed": changed}


class SetImage(ReplacesPods):
    name = "set-image"
    label = gettext_lazy("Set image")
    title_text = gettext_lazy("Set images of %(kind)s %(name)s")

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        images = [
            quoted(f"{field.removeprefix('image.')}={image}")
            for field, image in data.items()
            if field.startswith("image.")
        ]
        words = f"set image {kind.gvr.qualified} {quoted(key.name)}"
        return kubectl(" ".join((words, *images)), key)

    def applicable(self, entry: Entry[Any]) -> bool:
        return bool(entry.projection.containers)

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        return ImagesForm(data, [*containers(subject.entry.original())])

    async def run(self, context: ActionContext) -> Outcome:
        changed: list[ContainerImage] = context.data["changed"]
        # The patch addresses list indexes and tests the names, so that it fails instead of adding a
        # container that was removed in the meantime.
        same = [{"op": "test", "path": f"{one.path}/name", "value": one.name} for one in changed]
        images = [
            {"op": "replace", "path": f"{one.path}/image", "value": one.image} for one in changed
        ]
        await context.json_patch(*same, *images)
        return context.started(_("Set images of %(kind)s %(name)s."))
