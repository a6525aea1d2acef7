"""Evict a pod: delete it if its disruption budget allows that."""

from collections.abc import Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.errors import ObjectRecreated
from console.kube.gvr import POD_DISRUPTION_BUDGETS
from console.kube.store import Entry
from console.ui.core.action_texts import Fact
from console.ui.core.actions import EVERYWHERE, Action, ActionContext, Outcome, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.relations.owners import selecting
from console.ui.details.relations.visible_type import VisibleType


class Evict(Action):
    name = "evict"
    label = pgettext_lazy("action", "Evict")
    reads_also = (POD_DISRUPTION_BUDGETS,)
    effect_text = gettext_lazy(
        "A pod is deleted only if its disruption budget allows the eviction."
    )
    needs = (Permission("create", "eviction"),)
    danger = True
    places = EVERYWHERE
    keeps_object = False
    success_label = pgettext_lazy("result", "Evicted")
    failure_label = gettext_lazy("Not evicted")

    def applicable(self, entry: Entry[Any]) -> bool:
        return entry.projection.deleted is None

    def facts(self, kind: ResourceKind, entry: Entry[Any]) -> Sequence[Fact]:
        return kind.facts(entry)

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        pod, seeing = subject.entry.projection, VisibleType(subject, POD_DISRUPTION_BUDGETS)
        found = (
            []
            if pod.owner
            else [_("No controller manages this pod, so the pod will not be replaced.")]
        )
        if seeing.informer is None or pod.ended:
            return found
        budgets = seeing.only_visible(selecting(seeing.informer, pod.namespace, pod.labels))
        text = _("The disruption budget %(name)s currently does not allow this eviction.")
        blocking = [one for one in budgets if not one.projection.allowed]
        return [*found, *(text % {"name": escape_invisible(one.key.name)} for one in blocking)]

    async def run(self, context: ActionContext) -> Outcome:
        key, audit_id = context.key, context.audit_id
        there = context.access.cluster.runtime.informer(context.kind.gvr).store.get(key)
        if there is not None and there.projection.uid != context.uid:
            # kube-apiserver retries for ten seconds if the pod is not scheduled yet, so check this
            # first.
            raise ObjectRecreated
        await context.client.evict(
            namespace=key.namespace, name=key.name, uid=context.uid, audit_id=audit_id
        )
        return context.succeeded(_("Evicted %(kind)s %(name)s."))
