"""Review of drafts: what the cluster says about the objects, and the quotas afterwards."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from console.kube.gvr import GVR, LIMIT_RANGES, NAMESPACES, NODES, RESOURCE_QUOTAS
from console.kube.quantity import Amounts
from console.ui.core.access import Access
from console.ui.core.manifests import mapping
from console.ui.core.text import escape_invisible
from console.ui.core.threads import in_thread
from console.ui.editing.imports import read_items
from console.ui.editing.manifest import InvalidManifest, ManifestProblem
from console.ui.usage.quota_previews import QuotaPreview, limits_in, quota_previews
from console.ui.wizard.fields import BoundField
from console.ui.wizard.parts import walk
from console.ui.wizard.paths import path_text
from console.ui.wizard.state import Refusals, WizardContext
from console.ui.wizard.wizard import Step, WizardDraft, name_of
from console.views.importing import CreatedObject, ImportRun, ObjectResult
from console.views.pod_checks import PodCheck, check_pods, has_pods, security_notes
from console.wizards.quota_needs import needs_of

#: Seconds to wait for lists that are not loaded yet.
FIRST_LIST_WAIT = 3.0
_READ = (RESOURCE_QUOTAS, LIMIT_RANGES, NODES, NAMESPACES)


@dataclass(frozen=True, slots=True)
class Review:
    """Result of a review.

    - `problems`: of the text.
    - `notes`: pod security levels that the dry runs don't cover.
    """

    results: Sequence[ObjectResult] = ()
    problems: Sequence[ManifestProblem] = ()
    quotas: Sequence[QuotaPreview] = ()
    pods: Sequence[PodCheck] = ()
    notes: Sequence[str] = ()

    @property
    def is_able(self) -> bool:
        """Return True if the objects can be created."""
        return (
            not self.problems
            and bool(self.results)
            and all(one.code < 400 for one in self.results)
            and not any(one.is_exceeded for one in self.quotas)
            and not any(one.is_error for one in self.pods)
        )

    @property
    def to_create(self) -> int:
        return sum(one.change == "create" for one in self.results)

    @property
    def to_change(self) -> int:
        """Number of existing objects that are changed."""
        return sum(one.change == "update" for one in self.results)


async def review_draft(
    run: ImportRun, draft: WizardDraft, made: Sequence[CreatedObject] | None
) -> Review:
    """Check the objects of a draft with dry runs.

    `made` are the objects that an earlier attempt created. None if there was no attempt.
    """
    try:
        items, wrong = await in_thread(read_items, draft.created_text, run.namespace)
    except InvalidManifest as error:
        return Review(problems=error.problems)
    context, changed = draft.context, draft.changed_objects
    checked = [
        one if _is_in(one, context.namespace, changed) else _taken(one, made)
        for one in await run.check(items)
    ]
    await _wait_for_lists(context)
    quotas = await in_thread(_quotas, context, checked)
    pods = await check_pods(run.access, run.client, checked)
    notes = security_notes(run.access, context.namespace, pods) if has_pods(checked) else ()
    return Review(checked, wrong, quotas, pods, notes)


def _is_in(result: ObjectResult, namespace: str, objects: Collection[tuple[str, str]]) -> bool:
    """Return True if an object of the project is one of `objects`, kinds and names."""
    return result.namespace == namespace and (result.item.kind, result.item.name) in objects


async def _wait_for_lists(context: WizardContext) -> None:
    """Wait until the types that quotas depend on are loaded, for a limited time."""
    runtime = context.access.cluster.runtime
    await asyncio.gather(*(runtime.wait_synced(one, timeout=FIRST_LIST_WAIT) for one in _READ))


async def change_quotas(
    access: Access, gvr: GVR, before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[QuotaPreview]:
    """Return the quotas whose usage a change of an object increases or reduces."""
    namespace = mapping(before, "metadata").get("namespace", "")
    context = WizardContext(access, namespace, is_new=False)
    await _wait_for_lists(context)
    return await in_thread(_change_quotas, context, gvr, before, after)


def _change_quotas(
    context: WizardContext, gvr: GVR, before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[QuotaPreview]:
    added: Amounts = {}
    _add_change(added, context, gvr, after, before)
    return _previews(context, {name: amount for name, amount in added.items() if amount})


def _taken(result: ObjectResult, made: Sequence[CreatedObject] | None) -> ObjectResult:
    """Refuse an object whose name is taken by another object than those that the draft created.

    After an attempt that was interrupted, an object as in the draft counts as created by it.
    """
    live = result.live
    if live is None or result.code >= 400:
        return result
    uid = live["metadata"]["uid"]
    if made is not None and (result.change == "keep" or any(one.uid == uid for one in made)):
        return result
    words = {"name": result.item.shown_name, "kind": result.kind}
    text = (
        _("Name %(name)s is taken by another %(kind)s in this project. Enter another name.")
        if result.namespace
        else _("Name %(name)s is taken by another %(kind)s. Enter another name.")
    ) % words
    problem = result.item.problem(text, "metadata", "name")
    return replace(
        result, outcome="refused", change="create", code=409, problems=[problem], preview=None
    )


def draft_quotas(draft: WizardDraft) -> list[QuotaPreview]:
    """Return the quotas with the objects of a draft, before the cluster completes them."""
    added: Amounts = {}
    context = draft.context
    ranges, nodes = _limit_ranges(context), len(context.entries(NODES)) or 1
    for slot in draft.wizard.slots:
        manifest = draft.documents.get(slot.id)
        if manifest is not None:
            _add(added, needs_of(slot.gvr, manifest, ranges, nodes))
    return _previews(context, added)


def _quotas(context: WizardContext, results: Sequence[ObjectResult]) -> list[QuotaPreview]:
    added: Amounts = {}
    for one in results:
        new = one.stored or one.body or one.item.found.manifest
        if one.gvr is None or one.namespace != context.namespace or one.change == "keep":
            continue
        before = one.live if one.change == "update" else None
        _add_change(added, context, one.gvr, new, before)
    return _previews(context, added)


def _add_change(
    added: Amounts,
    context: WizardContext,
    gvr: GVR,
    new: Mapping[str, Any],
    before: Mapping[str, Any] | None,
) -> None:
    """Add what an object needs, without what it needed `before`."""
    ranges, nodes = _limit_ranges(context), len(context.entries(NODES)) or 1
    _add(added, needs_of(gvr, new, ranges, nodes))
    if before is not None:
        old = needs_of(gvr, before, ranges, nodes)
        _add(added, {name: -amount for name, amount in old.items()})


def _add(found: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        found[name] = found.get(name, amount - amount) + amount


def _limit_ranges(context: WizardContext) -> list[Mapping[str, Any]]:
    return [entry.original() for entry in context.entries(LIMIT_RANGES)]


def _previews(context: WizardContext, added: Amounts) -> list[QuotaPreview]:
    if not context.namespace:
        return []
    quotas = [entry.original() for entry in context.entries(RESOURCE_QUOTAS)]
    limits = limits_in(context.access, context.namespace, quotas)
    return quota_previews(context.access.cluster.kinds, limits, added)


@dataclass(frozen=True, slots=True)
class FieldRefusal:
    """A problem that the cluster reported, at the field that it is about."""

    step: Step
    field: BoundField
    text: str


def refusals(
    draft: WizardDraft, reported: Iterable[tuple[Mapping[str, Any], Sequence[ManifestProblem]]]
) -> list[FieldRefusal]:
    """Return the problems that belong to a field of the form. `reported` are manifests and their
    problems.
    """
    fields = [
        (step, node)
        for step in draft.wizard.steps
        for part in draft.bound(step)
        for node in walk(part)
        if isinstance(node, BoundField)
    ]
    found = []
    for document, problems in reported:
        slots = [
            one.id
            for one in draft.wizard.slots
            if one.matches(document)
            and name_of(draft.documents.get(one.id, {})) == name_of(document)
        ]
        own = [(step, node) for step, node in fields if node.slot in slots]
        for problem in problems:
            at = _field_at(problem.path, own)
            if at is not None:
                found.append(FieldRefusal(*at, problem.text))
    return found


def _field_at(
    path: str, fields: Sequence[tuple[Step, BoundField]]
) -> tuple[Step, BoundField] | None:
    """Return the field of a path: the same one, the nearest one around it, or the first inside."""
    if not path:
        return None
    named = [(path_text(node.path), step, node) for step, node in fields]
    around = [one for one in named if f"{path}.".startswith((f"{one[0]}.", f"{one[0]}["))]
    if around:
        _path, step, node = max(around, key=lambda one: len(one[0]))
        return step, node
    inside = (one for one in named if one[0].startswith((f"{path}.", f"{path}[")))
    return next(((step, node) for _path, step, node in inside), None)


def by_step(found: Sequence[FieldRefusal]) -> dict[str, Refusals]:
    """Return the refused values by step and field, as a draft keeps them."""
    held: dict[str, Refusals] = {}
    for one in found:
        held.setdefault(one.step.id, {})[one.field.name] = (
            one.field.value,
            escape_invisible(one.text),
        )
    return held
