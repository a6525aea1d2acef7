"""Node actions: start a drain, and stop or resume it from its progress panel."""

from collections.abc import Mapping
from typing import Any

from asgiref.sync import sync_to_async
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from console.audit.trail import request_action
from console.draining.plan import DrainPlan, plan_of
from console.draining.runner import NEEDS, DrainOrder, get_drains
from console.kube.gvr import GVR, POD_DISRUPTION_BUDGETS, PODS, Key, ObjectReference
from console.operations.store import AlreadyRunning, create_operation, discard, latest, request_stop
from console.ui.core.access import Access
from console.ui.core.action_texts import kubectl, quoted
from console.ui.core.actions import Action, ActionContext, ActionStarted, Outcome
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import NotLoaded, Refused
from console.ui.core.subject import Subject
from console.ui.forms.forms import CheckField, ConsoleForm, NumberField

#: Maximum grace period of a pod in seconds; maximum and default timeout in minutes.
MAX_GRACE_SECONDS, MAX_MINUTES, DEFAULT_MINUTES = 24 * 60 * 60, 24 * 60, 30


class DrainForm(ConsoleForm):
    """Drain options. Consent fields are only included if the plan requires them."""

    grace = NumberField(
        label=gettext_lazy("Grace period per pod (seconds)"),
        help_text=gettext_lazy("Leave empty to use the grace period of each pod."),
        least=1,
        most=MAX_GRACE_SECONDS,
        required=False,
    )
    minutes = NumberField(label=gettext_lazy("Timeout (minutes)"), least=1, most=MAX_MINUTES)

    def __init__(self, data: QueryDict | None, plan: DrainPlan) -> None:
        super().__init__(data, initial={"minutes": DEFAULT_MINUTES})
        self.plan = plan
        lost, emptied = plan.lost, plan.losing_data
        if lost:
            label = ngettext(
                "Delete %(count)s pod without a controller",
                "Delete %(count)s pods without a controller",
                lost,
            )
            self.fields["force"] = _Consent(label % {"count": f"{lost:,}"})
        if emptied:
            label = ngettext(
                "Delete the data of %(count)s pod in emptyDir volumes",
                "Delete the data of %(count)s pods in emptyDir volumes",
                emptied,
            )
            self.fields["empty_dir"] = _Consent(label % {"count": f"{emptied:,}"})
        self.order_fields(("force", "empty_dir"))


class _Consent(CheckField):
    def __init__(self, label: str) -> None:
        super().__init__(label=label)

    def validate(self, value: Any) -> None:
        if not value:
            raise ValidationError(_("Select this option to drain the node."))


class PodsUnknown(NotLoaded):
    text = gettext_lazy("The pods are not loaded yet. Try again later.")


class Drain(Action):
    """Starts a drain. The node is cordoned during the request, so that a missing permission is
    reported immediately.
    """

    name = "drain"
    label = pgettext_lazy("action", "Drain")
    weight = 3
    needs = NEEDS
    danger = True
    form = DrainForm
    audit_verb = ("patch", "drain")
    reads_also = (PODS, POD_DISRUPTION_BUDGETS)
    effect_text = gettext_lazy(
        "The node is cordoned, and its pods are evicted as far as their disruption budgets "
        "allow. Evictions are retried until all pods have left the node. Draining continues "
        "if you leave this page, and stops when you sign out."
    )

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        words = [f"drain {quoted(key.name)} --ignore-daemonsets"]
        words += ["--force"] if data.get("force") else []
        words += ["--delete-emptydir-data"] if data.get("empty_dir") else []
        words += [f"--grace-period={data['grace']}"] if data.get("grace") else []
        words += [f"--timeout={data['minutes']}m"] if data.get("minutes") else []
        return kubectl(" ".join(words), key)

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        plan = plan_of(subject)
        if plan is None:
            raise PodsUnknown
        return DrainForm(data, plan)

    async def extra_html(self, subject: Subject, form: ConsoleForm | None) -> SafeString:
        plan = form.plan if isinstance(form, DrainForm) else None
        return render_to_string("console/draining/asked.html", {"plan": plan})

    async def check(self, access: Access, gvr: GVR, key: Key) -> None:
        entry = access.cluster.runtime.informer(gvr).store.get(key)
        if entry is None:
            return
        node = ObjectReference(access.cluster.name, gvr, key, entry.projection.uid)
        found = await sync_to_async(latest)(node, self.name)
        if found is not None and found.running:
            raise Refused(_("The node is already being drained."))

    async def run(self, context: ActionContext) -> Outcome:
        return await _start(context, context.data)


class _OnPanel(Action):
    needs = NEEDS
    places = frozenset()
    has_confirmation = False


class ResumeDrain(_OnPanel):
    """Starts a drain with the options of the last one."""

    name = "resume-drain"
    label = pgettext_lazy("action", "Resume drain")
    audit_verb = ("patch", "resume-drain")

    async def run(self, context: ActionContext) -> Outcome:
        found = await sync_to_async(latest)(_node(context), Drain.name)
        if found is None or found.running:
            raise Refused(_("The current state of the object doesn't allow this action."))
        return await _start(context, found.data)


class StopDrain(_OnPanel):
    """Requests a stop. The process that runs the drain polls the request."""

    name = "stop-drain"
    label = pgettext_lazy("action", "Stop")
    audit_verb = ("patch", "stop-drain")

    async def run(self, context: ActionContext) -> Outcome:
        actor = context.request.account or ""
        if not await sync_to_async(request_stop)(_node(context), Drain.name, actor):
            raise Refused(_("The node is not being drained."))
        return ActionStarted(
            _("Stopped draining %(kind)s %(name)s. The node stays cordoned.")
            % context.message_values
        )


def _node(context: ActionContext) -> ObjectReference:
    return ObjectReference(context.access.cluster.name, context.kind.gvr, context.key, context.uid)


async def _start(context: ActionContext, data: Mapping[str, Any]) -> Outcome:
    presence = context.request.presence
    if presence is None:
        raise Refused(_("You don't have permission to do this."))
    request, cluster = context.request, context.access.cluster
    recorded = request_action(request, "create", PODS, subresource="eviction")
    try:
        number = await sync_to_async(create_operation)(
            _node(context), Drain.name, recorded.actor, dict(data)
        )
    except AlreadyRunning as error:
        raise Refused(_("The node is already being drained.")) from error
    try:
        node = await context.patch({"spec": {"unschedulable": True}})
    except BaseException:
        await sync_to_async(discard)(number)
        raise
    order = DrainOrder(
        number=number,
        cluster=cluster,
        node=context.key,
        uid=context.uid,
        version=node["metadata"]["resourceVersion"],
        force=bool(data.get("force")),
        empty_dir=bool(data.get("empty_dir")),
        grace=data.get("grace"),
        minutes=data.get("minutes") or DEFAULT_MINUTES,
        presence=presence,
        recorded=recorded,
    )
    get_drains().start(order)
    return ActionStarted(_("Started draining %(kind)s %(name)s.") % context.message_values)
