"""Declarations of wizards, and the draft that a wizard edits.

The draft's manifests are the only model. Fields read and write them. Values without a field
stay unchanged.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from django.http import QueryDict
from django.utils.datastructures import MultiValueDict

from console.kube.gvr import GVR
from console.ui.editing.yaml_text import plain_yaml
from console.ui.wizard.fields import BoundField, Text
from console.ui.wizard.parts import BoundNode, FormPart, walk
from console.ui.wizard.paths import Path, covers, leaves, write_at
from console.ui.wizard.state import FieldScope, Files, FormState, Question, Refusals, WizardContext

#: Steps that every wizard has besides its own.
YAML, REVIEW = "yaml", "review"
MAIN = ""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A page of a wizard.

    - `is_only_for_new`: the step is left out when an existing object is edited.
    - `facts`: returns the values that matter, for the list of steps.
    """

    id: str
    title: Text
    parts: Sequence[FormPart]
    hint: Text = ""
    is_optional: bool = False
    is_only_for_new: bool = False
    facts: Callable[[FieldScope], str] | None = None


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A document of the draft. Its manifest is the first with the group and kind that belongs to the
    draft. `belongs` gets the documents of the slots before, and a manifest. `changes_existing` allows
    the document to change an existing object.
    """

    id: str
    gvr: GVR
    api_kind: str
    belongs: Callable[[Mapping[str, dict[str, Any]], Mapping[str, Any]], bool] = (
        lambda documents, manifest: True
    )
    changes_existing: bool = False

    def matches(self, manifest: Mapping[str, Any]) -> bool:
        group = str(manifest.get("apiVersion", "")).rpartition("/")[0]
        return (group, manifest.get("kind")) == (self.gvr.group, self.api_kind)


@dataclass(frozen=True, kw_only=True)
class Warning:
    """Something that is allowed and probably not intended. `step` is where it can be changed."""

    text: str
    step: str = ""


@dataclass(frozen=True, kw_only=True)
class Wizard:
    """A form with steps for an object, and for documents that are created together with it.

    - `slots`: the documents; the first is the main one.
    - `start`: the new main manifest, without type, name and namespace.
    - `quick`: a page with the most important fields, followed by the review.
    - `sections`: pages with some of the fields, to edit an existing object. Their parts are the same as
      those of `steps`. `whole`: in the wizard of a section, the steps with all fields.
    - `creates`: False if the wizard only edits existing objects, by section.
    - `begin`: adds the other documents of a new draft.
    - `finish`: completes the documents after each change, such as labels that follow the name. It
      gets the state and the previous name of the object.
    - `implied`: documents and paths that `finish` writes.
    - `join`, `split`: the form edits several manifests as one document. `join` gets the draft's
      manifests and returns those of the form, `split` returns the manifests of the main document.
    - `is_main_optional`: if the cluster doesn't serve the main type, only the other manifests are
      created.
    - `warnings`: settings that are allowed but probably not intended.
    - `facts`: labels and values of the summary.
    """

    slots: Sequence[Slot]
    steps: Sequence[Step]
    start: Callable[[WizardContext], Mapping[str, Any]] = lambda context: {}
    quick: Step | None = None
    sections: Sequence[Step] = ()
    whole: Sequence[Step] = ()
    creates: bool = True
    begin: Callable[[FormState], None] | None = None
    finish: Callable[[FormState, str], None] | None = None
    implied: Sequence[tuple[str, Path]] = ()
    join: Callable[[Sequence[dict[str, Any]]], Sequence[dict[str, Any]]] | None = None
    split: Callable[[Mapping[str, Any]], Sequence[dict[str, Any]]] | None = None
    is_main_optional: bool = False
    warnings: Callable[[FormState], Sequence[Warning]] = lambda state: ()
    facts: Callable[[FieldScope], Sequence[tuple[Text, str]]] = lambda scope: ()

    @property
    def main(self) -> Slot:
        return self.slots[0]

    @property
    def is_short(self) -> bool:
        """True for a wizard with one step, which needs no list of steps."""
        return len(self.steps) == 1

    @cached_property
    def for_existing(self) -> "Wizard":
        """The wizard that edits an existing object."""
        return replace(
            self,
            slots=self.slots[:1],
            steps=[one for one in self.steps if not one.is_only_for_new],
            quick=None,
        )

    def of_section(self, id: str) -> "Wizard | None":
        """Return the wizard that edits one section of an existing object."""
        existing = self.for_existing
        found = next((one for one in self.sections if one.id == id), None)
        return replace(existing, steps=[found], whole=existing.steps) if found else None

    def step(self, id: str) -> Step | None:
        pages = self.steps if self.quick is None else (*self.steps, self.quick)
        return next((one for one in pages if one.id == id), None)

    def step_after(self, id: str) -> str:
        """Return the id of the next step, `REVIEW` after the last."""
        ids = [one.id for one in self.steps]
        return ids[ids.index(id) + 1] if id in ids[:-1] else REVIEW

    def new_document(self, context: WizardContext, name: str = "") -> dict[str, Any]:
        """Return the main manifest of a new draft."""
        start = deepcopy(dict(self.start(context)))
        metadata: dict[str, Any] = {"name": name} if name else {}
        if context.namespace:
            metadata["namespace"] = context.namespace
        head = {"apiVersion": self.main.gvr.group_version, "kind": self.main.api_kind}
        return {**head, "metadata": {**metadata, **start.pop("metadata", {})}, **start}


@dataclass(slots=True)
class WizardDraft:
    """The draft of a wizard.

    - `documents`: manifests by slot. `others`: manifests that belong to no slot.
    - `inputs`, `questions`, `answers`: see `FormState`. `refused`: see `FormState`, by step.
    - `visited`: steps that were submitted.
    """

    wizard: Wizard
    context: WizardContext
    documents: dict[str, dict[str, Any]]
    others: list[dict[str, Any]] = field(default_factory=list)
    inputs: dict[str, dict[str, str]] = field(default_factory=dict)
    refused: dict[str, Refusals] = field(default_factory=dict)
    visited: list[str] = field(default_factory=list)
    questions: Sequence[Question] = ()
    answers: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, wizard: Wizard, context: WizardContext, manifests: Sequence[dict[str, Any]]
    ) -> "WizardDraft":
        """Return the draft with these manifests."""
        documents: dict[str, dict[str, Any]] = {}
        others = [*(manifests if wizard.join is None else wizard.join(manifests))]
        for slot in wizard.slots:
            for number, manifest in enumerate(others):
                if slot.matches(manifest) and slot.belongs(documents, manifest):
                    documents[slot.id] = others.pop(number)
                    break
        draft = cls(wizard, context, documents, others)
        if wizard.main.id not in documents:
            documents[wizard.main.id] = wizard.new_document(context)
            if not manifests:
                draft.begin()
        return draft

    def begin(self) -> None:
        """Add the documents that a new object needs."""
        if self.wizard.begin is None:
            return
        state = self.state("")
        self.wizard.begin(state)
        if self.wizard.finish is not None:
            self.wizard.finish(state, self.name)

    def rename(self, name: str) -> None:
        """Give the object a name, and change everything that follows it."""
        before = self.name
        write_at(self.main, ("metadata", "name"), name)
        if self.wizard.finish is not None and name != before:
            self.wizard.finish(self.state(""), before)

    @property
    def main(self) -> dict[str, Any]:
        return self.documents[self.wizard.main.id]

    @property
    def name(self) -> str:
        return name_of(self.main)

    @property
    def manifests(self) -> list[dict[str, Any]]:
        """All manifests, the main one first."""
        slots = [self.documents[s.id] for s in self.wizard.slots if s.id in self.documents]
        if self.wizard.split is not None:
            slots = [one for document in slots for one in self.wizard.split(document)]
        return [*slots, *self.others]

    @property
    def changed_objects(self) -> frozenset[tuple[str, str]]:
        """Kinds and names of the existing objects that the draft may change."""
        slots = (one for one in self.wizard.slots if one.changes_existing)
        found = ((one, self.documents.get(one.id)) for one in slots)
        return frozenset((one.api_kind, name_of(held)) for one, held in found if held is not None)

    @property
    def created_text(self) -> str:
        """The manifests to create as YAML documents."""
        main = self.wizard.main
        if not self.wizard.is_main_optional or self.context.serves(main.gvr):
            return self.text
        return "---\n".join(plain_yaml(one) for one in self.manifests if not main.matches(one))

    @property
    def text(self) -> str:
        """The manifests as YAML documents."""
        return "---\n".join(plain_yaml(one) for one in self.manifests)

    def state(
        self, step: str, post: QueryDict | None = None, act: str = "", files: Files | None = None
    ) -> FormState:
        return FormState(
            context=self.context,
            documents=self.documents,
            inputs=dict(self.inputs.get(step, {})),
            refused=dict(self.refused.get(step, {})),
            shows_errors=step in self.visited,
            post=post,
            act=act,
            answers=self.answers,
            files=files if files is not None else MultiValueDict(),
        )

    def scope(self, state: FormState) -> FieldScope:
        return FieldScope(state, self.wizard.main.id)

    def bound(self, step: Step, focus: str = "") -> list[BoundNode]:
        """Return the parts of a step for its page."""
        state = self.state(step.id)
        state.focus = focus
        return [part.bind(self.scope(state)) for part in step.parts]

    def submit(
        self,
        step: Step,
        post: QueryDict,
        act: str = "",
        *,
        files: Files | None = None,
        leaves: bool = False,
    ) -> str:
        """Write the submitted step into the documents. Return the name of the row to focus.

        With `leaves`, new rows that were left unchanged are dropped.
        """
        name = self.name
        state = self.state(step.id, post, act, files)
        for part in step.parts:
            part.apply(self.scope(state))
        if leaves:
            for part in step.parts:
                part.drop_unused(self.scope(state))
        if self.wizard.finish is not None:
            self.wizard.finish(state, name)
        self.inputs = {**self.inputs, step.id: state.inputs}
        self.refused = {**self.refused, step.id: state.refused}
        self.questions = state.questions
        return state.focus or act.removesuffix(".show").removesuffix(".ask").rstrip(".")

    def errors(self, step: Step, *, own: bool = False) -> list[tuple[BoundField, Text]]:
        """Return the fields of a step with errors, as if it had been submitted. With `own`, without
        the errors that the cluster reported.
        """
        state = self.state(step.id)
        if own:
            state.refused = {}
        state.shows_errors = True
        nodes = [part.bind(self.scope(state)) for part in step.parts]
        return [
            (node, node.error) for one in nodes for node in walk(one) if getattr(node, "error", "")
        ]

    def yaml_only(self) -> list[tuple[str, Path]]:
        """Return slot and path of each value that no field shows."""
        stripped = deepcopy(self.documents)
        state = FormState(self.context, stripped)
        for step in self.wizard.whole or self.wizard.steps:
            for part in step.parts:
                part.strip(FieldScope(state, self.wizard.main.id))
        implied = [("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")]
        found = []
        for slot, document in state.documents.items():
            known = [*implied, *(path for of, path in self.wizard.implied if of == slot)]
            for path in leaves(document):
                if not any(covers(one, path) for one in known):
                    found.append((slot, path))
        others = [("", path) for one in self.others for path in leaves(one)]
        return [*found, *others]


def name_of(manifest: Mapping[str, Any]) -> str:
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""
