"""Form fields that a browser submits for a step of a wizard, and variations of manifests."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from html.parser import HTMLParser
from random import Random
from typing import Any

from django.http import QueryDict
from django.template.loader import render_to_string

from console.kube.gvr import GVR
from console.ui.core.gpus import GpuKind
from console.ui.wizard.fields import BoundField
from console.ui.wizard.parts import BoundPart, OptionalDocument, Preset, Variant, walk
from console.ui.wizard.state import WizardContext
from console.ui.wizard.wizard import Step, Wizard, WizardDraft


class _NoOne:
    """A viewer without permissions."""

    def namespaces_where(self, verb: str, gvr: object, subresource: str = "") -> frozenset[str]:
        return frozenset()


@dataclass(frozen=True, slots=True)
class OfflineContext(WizardContext):
    """A place in which only `objects` exist, by type, and these types of GPUs."""

    objects: Mapping[GVR, Sequence[Any]] = field(default_factory=dict)
    gpus: Sequence[GpuKind] = ()

    def serves(self, gvr: GVR) -> bool:
        return gvr in self.objects

    def gpu_kinds(self) -> Sequence[GpuKind]:
        return self.gpus

    def entries(self, gvr: GVR, namespace: str | None = None) -> list[Any]:
        place = self.namespace if namespace is None else namespace
        found = self.objects.get(gvr, ())
        return [one for one in found if getattr(one.key, "namespace", place) in ("", place)]

    def sees_all(self, gvr: GVR, namespace: str) -> bool:
        return gvr in self.objects

    def count(self, gvr: GVR, namespace: str) -> int | None:
        return len(self.entries(gvr, namespace)) if self.sees_all(gvr, namespace) else None


def offline(**options: Any) -> OfflineContext:
    return OfflineContext(_NoOne(), "shop", **options)  # type: ignore[arg-type]


EXISTING = offline(is_new=False)


class _Form(HTMLParser):
    """Collects the fields of a form that a browser submits."""

    def __init__(self) -> None:
        super().__init__()
        self.fields = QueryDict(mutable=True)
        self._select = self._text = ""
        self._options: list[tuple[str, bool]] = []
        self._lines: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        name = found.get("name", "")
        if tag == "input" and name:
            kind = found.get("type", "text")
            if kind not in ("checkbox", "radio") or "checked" in found:
                self.fields.appendlist(name, found.get("value", ""))
        elif tag == "select":
            self._select, self._options = name, []
        elif tag == "option" and self._select:
            self._options.append((found.get("value", ""), "selected" in found))
        elif tag == "textarea":
            self._text, self._lines = name, []

    def handle_data(self, data: str) -> None:
        if self._text:
            self._lines.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "select" and self._select and self._options:
            chosen = [value for value, selected in self._options if selected]
            self.fields.appendlist(self._select, (chosen or [self._options[0][0]])[-1])
            self._select = ""
        elif tag == "textarea" and self._text:
            # Browsers drop the first line break, and submit CRLF.
            text = "".join(self._lines).removeprefix("\n").replace("\n", "\r\n")
            self.fields.appendlist(self._text, text)
            self._text = ""


def fields_of(html: str) -> QueryDict:
    """Return the fields that a browser submits for an unchanged form."""
    form = _Form()
    form.feed(html)
    return form.fields


def step_html(draft: WizardDraft, step: Step) -> str:
    return "".join(render_to_string(one.template, {"node": one}) for one in draft.bound(step))


def step_fields(draft: WizardDraft, step: Step) -> QueryDict:
    """Return what a browser submits for an unchanged step, without rendering it."""
    found = QueryDict(mutable=True)
    for one in draft.bound(step):
        for node in walk(one):
            if isinstance(node, BoundPart) and isinstance(
                node.part, Variant | OptionalDocument | Preset
            ):
                if not node.is_yaml_only:
                    found[node.name] = node.value
            elif isinstance(node, BoundField) and not node.is_yaml_only:
                text, unit = node.amount
                if node.field.control != "picks" or node.value:
                    found[node.name] = text.replace("\n", "\r\n")
                if node.field.control == "amount":
                    found[f"{node.name}.unit"] = unit
    return found


def saved_unchanged(
    wizard: Wizard, context: WizardContext, manifest: dict[str, Any], *, rendered: bool = True
) -> list[Any]:
    """Open a manifest in its wizard, submit every step unchanged, and return the manifests. With
    `rendered`, the fields are read from the HTML.
    """
    draft = WizardDraft.of(wizard, context, [deepcopy(manifest)])
    for step in wizard.steps:
        sent = fields_of(step_html(draft, step)) if rendered else step_fields(draft, step)
        draft.submit(step, sent, leaves=True)
    return draft.manifests


_ODD: tuple[Any, ...] = (
    None,
    "",
    0,
    -1,
    True,
    1.5,
    "a b",
    "é\n",
    [],
    {},
    ["x", 1],
    {"x": {"y": "z"}},
)


def variation(value: Any, random: Random, chance: float = 0.15) -> Any:
    """Return a copy of a manifest with missing, unknown, repeated and unexpected values."""
    if random.random() < chance / 4:
        return deepcopy(random.choice(_ODD))
    if isinstance(value, dict):
        found = {
            name: variation(one, random, chance)
            for name, one in value.items()
            if random.random() > chance
        }
        if random.random() < chance:
            found[f"x-{random.randrange(100)}"] = deepcopy(random.choice(_ODD))
        return found
    if isinstance(value, list):
        items = [variation(one, random, chance) for one in value if random.random() > chance]
        return [*items, *deepcopy(items[:1])] if random.random() < chance else items
    return value


def manifest_variation(
    manifest: dict[str, Any], random: Random, chance: float = 0.15
) -> dict[str, Any]:
    """Return a variation of a manifest that is still an object of the same type and name."""
    rest = {k: v for k, v in manifest.items() if k not in ("apiVersion", "kind", "metadata")}
    metadata = {k: v for k, v in manifest["metadata"].items() if k not in ("name", "namespace")}
    named = {k: v for k, v in manifest["metadata"].items() if k in ("name", "namespace")}
    varied = variation(metadata, random, chance)
    return {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": {**named, **(varied if isinstance(varied, dict) else {})},
        **{name: variation(value, random, chance) for name, value in rest.items()},
    }


def filled_in(draft: WizardDraft, **values: str) -> dict[str, Any]:
    """Fill in fields of a form with one step, by name with `__` for dots, and return the manifest."""
    [step] = draft.wizard.steps
    post = step_fields(draft, step)
    for name, value in values.items():
        post[name.replace("__", ".")] = value
    draft.submit(step, post, leaves=True)
    return draft.main
