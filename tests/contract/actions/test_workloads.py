"""Actions on workloads, by page, by JSON, and compared with kubectl."""

import html
import json
import re

import pytest

from console.audit.models import AuditRecord
from console.kube import gvr as types
from console.kube.gvr import GVR
from tests.contract.client import JSON_PATCH, MERGE_PATCH, Obj
from tests.contract.cluster import Kubectl
from tests.contract.objects import deployment, unique
from tests.contract.workload_project import Project, _runtime, project, runtime
from tests.contract.workloads import cron_job, daemon_set, job, stateful_set
from tests.controlplane.waiting import eventually
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_runtime", "_site", "project", "runtime"]

pytestmark = pytest.mark.django_db(transaction=True)

JSON = {"Accept": "application/json"}


def workload(gvr: GVR) -> Obj:
    name = unique("web")
    if gvr in (types.JOBS, types.CRON_JOBS):
        return job(name) if gvr == types.JOBS else cron_job(name)
    if gvr == types.STATEFUL_SETS:
        return stateful_set(name)
    return daemon_set(name) if gvr == types.DAEMON_SETS else deployment(name, "example/zero:1")


def images(obj: Obj) -> list[str]:
    return [one["image"] for one in obj["spec"]["template"]["spec"]["containers"]]


def annotations(obj: Obj) -> dict[str, str]:
    found: dict[str, str] = obj["spec"]["template"]["metadata"].get("annotations", {})
    return found


def alike(obj: Obj) -> str:
    """Return a text that is equal for objects that differ only in names, times, and controller
    annotations.
    """
    about = {k: v for k, v in obj["metadata"].items() if k in ("labels", "annotations", "name")}
    about.get("annotations", {}).pop("deployment.kubernetes.io/revision", "")
    about["annotations"] = about.get("annotations", {})
    text = json.dumps({"metadata": about, "spec": obj["spec"]}, sort_keys=True)
    text = text.replace(about["name"], "NAME").replace(obj["metadata"]["uid"], "UID")
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?([+-]\d\d:\d\d)?", "TIME", text)


ROLLED = (types.DEPLOYMENTS, types.STATEFUL_SETS, types.DAEMON_SETS)
SCALED = (types.DEPLOYMENTS, types.STATEFUL_SETS)


@pytest.mark.also_old
@pytest.mark.parametrize("gvr", SCALED, ids=lambda gvr: gvr.resource)
async def test_a_workload_is_scaled(project: Project, gvr: GVR) -> None:
    made = project.make(gvr, workload(gvr))
    name = made["metadata"]["name"]
    asked = await project.page(gvr, made, "scale")
    line = f"kubectl scale {gvr.qualified} {name} --replicas=0 -n {project.namespace}"
    assert line in asked and 'name="replicas" value="0"' in asked
    assert "will also be deleted" not in asked
    assert f"{project.url(gvr, made, 'scale')}" in await text_of(
        await project.client().get(project.url(gvr, made))
    )
    await project.do(gvr, made, "scale", replicas="3")
    found = project.read(gvr, made)
    assert found["spec"]["replicas"] == 3
    record = await AuditRecord.objects.aget()
    assert (record.verb, record.subresource, record.name) == ("patch", "scale", name)
    assert (record.actor, record.code) == (project.viewer, 200)


@pytest.mark.parametrize("replicas", ["", "-1", "1000000000000", "9" * 5000, "many", "1.5", "\x00"])
async def test_invalid_replica_counts_are_reported(project: Project, replicas: str) -> None:
    gvr = types.DEPLOYMENTS
    made = project.make(gvr, workload(gvr))
    url, uid = project.url(gvr, made, "scale"), made["metadata"]["uid"]
    page = await project.client().post(url, {"uid": uid, "replicas": replicas})
    text = await text_of(page)
    assert page.status_code == 400 and uid in text
    assert 'href="#form-replicas">Replicas: Use a whole number from 0 to 2,147,483,647.' in text
    answer = await project.client(**JSON).post(url, {"uid": uid, "replicas": replicas})
    status = json.loads(await text_of(answer))
    assert (status["code"], [one["field"] for one in status["details"]["causes"]]) == (
        400,
        ["replicas"],
    )
    assert project.read(gvr, made)["metadata"]["generation"] == 1


async def test_scaling_an_autoscaled_deployment_shows_a_warning(project: Project) -> None:
    gvr = types.DEPLOYMENTS
    made, other = (project.make(gvr, workload(gvr)) for _ in range(2))
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": made["metadata"]["name"]}
    spec = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 7}
    project.make(
        types.HORIZONTAL_POD_AUTOSCALERS, {"metadata": {"name": unique("hpa")}, "spec": spec}
    )
    assert "sets the number of replicas (2 to 7)" in await project.page(gvr, made, "scale")
    assert "sets the number of replicas" not in await project.page(gvr, other, "scale")


@pytest.mark.parametrize("gvr", ROLLED, ids=lambda gvr: gvr.resource)
async def test_a_workload_is_restarted(project: Project, gvr: GVR) -> None:
    made = project.make(gvr, workload(gvr))
    line = f"kubectl rollout restart {gvr.qualified} {made['metadata']['name']}"
    assert line in await project.page(gvr, made, "restart")
    await project.do(gvr, made, "restart")
    assert list(annotations(project.read(gvr, made))) == ["kubectl.kubernetes.io/restartedAt"]


async def test_restarting_a_daemonset_with_on_delete_shows_a_warning(project: Project) -> None:
    gvr = types.DAEMON_SETS
    body = workload(gvr)
    body["spec"]["updateStrategy"] = {"type": "OnDelete"}
    assert "OnDelete" in await project.page(gvr, project.make(gvr, body), "restart")


async def test_a_rollout_is_paused_and_resumed(project: Project) -> None:
    gvr = types.DEPLOYMENTS
    made = project.make(gvr, workload(gvr))
    assert (await project.client().get(project.url(gvr, made, "resume"))).status_code == 409
    await project.do(gvr, made, "pause")
    assert project.read(gvr, made)["spec"]["paused"] is True
    eventually(lambda: project.known(gvr, made).paused, "it is known that it is paused")
    for action in ("pause", "restart"):
        url, uid = project.url(gvr, made, action), made["metadata"]["uid"]
        assert (await project.client().get(url)).status_code == 409
        assert (await project.client(**JSON).post(url, {"uid": uid})).status_code == 409
    await project.do(gvr, made, "resume")
    assert "paused" not in project.read(gvr, made)["spec"]


def roll(project: Project, gvr: GVR, made: Obj, image: str, number: int) -> None:
    """Set another image and wait until the console has loaded this revision."""
    where = project.path(gvr, made["metadata"]["name"])
    change = {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": image}
    project.admin.patch(where, [change], JSON_PATCH).ok()
    until_revision(project, gvr, made, number)


def until_revision(project: Project, gvr: GVR, made: Obj, number: int) -> None:
    kept = types.REPLICA_SETS if gvr == types.DEPLOYMENTS else types.CONTROLLER_REVISIONS
    store, uid = project.runtime.informer(kept).store, made["metadata"]["uid"]

    def newest() -> int:
        found = [entry.projection for entry in store.snapshot().entries.values()]
        return max((one.revision or 0 for one in found if one.owner_uid == uid), default=0)

    eventually(lambda: newest() == number, f"revision {number} is known")


def make_two_revisions(project: Project, gvr: GVR) -> Obj:
    """Create a workload with revisions that use the images zero:1 and zero:2."""
    body = workload(gvr)
    body["metadata"]["annotations"] = {"kubernetes.io/change-cause": "the first"}
    made = project.make(gvr, body)
    until_revision(project, gvr, made, 1)
    note = {"metadata": {"annotations": {"kubernetes.io/change-cause": "the second"}}}
    roll(project, gvr, made, "example/zero:2", 2)
    project.admin.patch(project.path(gvr, made["metadata"]["name"]), note, MERGE_PATCH).ok()
    return made


@pytest.mark.also_old
@pytest.mark.parametrize("gvr", ROLLED, ids=lambda gvr: gvr.resource)
async def test_a_workload_is_rolled_back(project: Project, gvr: GVR) -> None:
    made = make_two_revisions(project, gvr)
    tab = await text_of(await project.client().get(f"{project.url(gvr, made)}/revisions"))
    assert f'href="{project.url(gvr, made, "rollback")}?revision=1"' in tab
    asked = await project.page(gvr, made, "rollback")
    assert (
        "Pod template: from the current template to revision 1" in asked
        and 'data-change="+"' in asked
    )
    assert "<del>      - image: example/zero:2</del>" in re.sub(r"<del> +", "<del>      ", asked)
    line = f"kubectl rollout undo {gvr.qualified} {made['metadata']['name']}"
    assert line in asked and "--to-revision=1" in asked
    await project.do(gvr, made, "rollback", revision="1")
    assert images(project.read(gvr, made))[0] == "example/zero:1"
    until_revision(project, gvr, made, 3)
    # The previously newest revision is now the one to roll back to.
    asked = await project.page(gvr, made, "rollback", "revision=2")
    assert "Pod template: from the current template to revision 2" in asked
    for gone in ("1", "3", "4", "x", ""):
        page = await project.client().get(f"{project.url(gvr, made, 'rollback')}?revision={gone}")
        assert page.status_code == 409


@pytest.mark.parametrize("gvr", ROLLED, ids=lambda gvr: gvr.resource)
async def test_a_rollback_has_the_same_effect_as_kubectl(
    project: Project, kubectl: Kubectl, gvr: GVR
) -> None:
    one, other = (make_two_revisions(project, gvr) for _ in range(2))
    await project.do(gvr, one, "rollback", revision="1")
    name = other["metadata"]["name"]
    kubectl("rollout", "undo", gvr.resource, name, "--to-revision=1")
    for made in (one, other):
        until_revision(project, gvr, made, 3)
    assert alike(project.read(gvr, one)) == alike(project.read(gvr, other))


async def test_only_offered_revisions_can_be_rolled_back_to(project: Project) -> None:
    gvr = types.DEPLOYMENTS
    made = make_two_revisions(project, gvr)
    url, sent = project.url(gvr, made, "rollback"), {"uid": made["metadata"]["uid"]}
    for revision in ("2", "7", "-1", "x", "", "9" * 5000):
        page = await project.client().post(url, {**sent, "revision": revision})
        assert page.status_code == 400
        assert "This option is no longer available. Choose another option." in await text_of(page)
        answer = await project.client(**JSON).post(url, {**sent, "revision": revision})
        assert json.loads(await text_of(answer))["details"]["causes"][0]["field"] == "revision"
    assert images(project.read(gvr, made)) == ["example/zero:2"]


async def test_rollback_is_unavailable_without_another_revision(project: Project) -> None:
    gvr = types.DEPLOYMENTS
    made = project.make(gvr, workload(gvr))
    until_revision(project, gvr, made, 1)
    page = await project.client().get(project.url(gvr, made, "rollback"))
    assert page.status_code == 409 and "This workload has only one revision" in await text_of(page)


@pytest.mark.also_old
async def test_a_cronjob_can_be_run_manually(project: Project) -> None:
    gvr = types.CRON_JOBS
    made = project.make(gvr, workload(gvr))
    asked = await project.page(gvr, made, "run")
    found = re.search(r'name="name" value="([^"]+)"', asked)
    assert found
    name, where = found[1], project.path(types.JOBS)
    assert f"kubectl create job {name} --from=cronjob/{made['metadata']['name']}" in asked
    sent = {"uid": made["metadata"]["uid"], "name": name}
    done = await project.client().post(project.url(gvr, made, "run"), sent)
    assert done.status_code == 302, await text_of(done)
    assert (await project.client().get(done["Location"])).status_code == 200
    [owner] = project.admin.get(f"{where}/{name}").ok()["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"]) == (made["metadata"]["uid"], True)
    # Submitting the form twice creates one Job.
    again = await project.client().post(project.url(gvr, made, "run"), sent)
    assert again.status_code == 409
    assert "An object with this name already exists." in await text_of(again)
    names = [one["metadata"]["name"] for one in project.admin.get(where).ok()["items"]]
    assert [one for one in names if one.startswith(made["metadata"]["name"])] == [name]


async def test_a_manual_run_has_the_same_effect_as_kubectl(
    project: Project, kubectl: Kubectl
) -> None:
    gvr = types.CRON_JOBS
    made = project.make(gvr, workload(gvr))
    name, other = unique("by-console"), unique("by-kubectl")
    await project.do(gvr, made, "run", name=name)
    kubectl("create", "job", other, f"--from=cronjob/{made['metadata']['name']}")
    one, two = (project.admin.get(project.path(types.JOBS, found)).ok() for found in (name, other))
    owners = [found["metadata"]["ownerReferences"] for found in (one, two)]
    assert owners[0] == owners[1]
    assert alike(one) == alike(two)


@pytest.mark.newer_kubernetes
async def test_a_finished_job_can_be_rerun(project: Project) -> None:
    gvr = types.JOBS
    made = project.make(gvr, workload(gvr))
    assert (await project.client().get(project.url(gvr, made, "rerun"))).status_code == 409
    end(project, made)
    name = unique("again")
    await project.do(gvr, made, "rerun", name=name)
    again = project.admin.get(project.path(gvr, name)).ok()
    old = project.read(gvr, made)
    assert again["spec"]["selector"] != old["spec"]["selector"]
    assert again["metadata"]["labels"]["app"] == made["metadata"]["name"]
    labels = again["spec"]["template"]["metadata"]["labels"]
    assert labels["batch.kubernetes.io/job-name"] == name
    # All other fields are the same.
    assert alike(again).replace(made["metadata"]["name"], "NAME") == alike(old)


def end(project: Project, made: Obj) -> None:
    """Complete the Job by its status, because there is no kubelet."""
    where = project.path(types.JOBS, made["metadata"]["name"])
    eventually(lambda: project.read(types.JOBS, made)["status"].get("startTime"), "it has begun")
    now = project.read(types.JOBS, made)["status"]["startTime"]
    same = {"status": "True", "lastTransitionTime": now, "lastProbeTime": now}
    kinds = ("SuccessCriteriaMet", "Complete")
    status = {
        "completionTime": now,
        "succeeded": 1,
        "active": None,
        "ready": None,
        "conditions": [{"type": one, "reason": "CompletionsReached", **same} for one in kinds],
    }
    project.admin.patch(f"{where}/status", {"status": status}, MERGE_PATCH).ok()
    eventually(lambda: project.known(types.JOBS, made).ended, "it is known that it has ended")


@pytest.mark.parametrize(
    "name", ["", "Upper", "a b", "x" * 64, "-a", "\u202e", "a/b"], ids=range(7)
)
async def test_invalid_job_names_are_reported(project: Project, name: str) -> None:
    gvr = types.CRON_JOBS
    made = project.make(gvr, workload(gvr))
    url, sent = project.url(gvr, made, "run"), {"uid": made["metadata"]["uid"], "name": name}
    page = await project.client().post(url, sent)
    text = await text_of(page)
    assert page.status_code in (400, 422), text
    assert 'href="#form-name">Job name: ' in text


@pytest.mark.parametrize("gvr", (types.JOBS, types.CRON_JOBS), ids=lambda gvr: gvr.resource)
async def test_a_job_is_suspended_and_resumed(project: Project, gvr: GVR) -> None:
    made = project.make(gvr, workload(gvr))
    assert (await project.client().get(project.url(gvr, made, "resume"))).status_code == 409
    line = f"kubectl patch {gvr.qualified} {made['metadata']['name']} --type=merge -p"
    assert line in await project.page(gvr, made, "suspend")
    await project.do(gvr, made, "suspend")
    assert project.read(gvr, made)["spec"]["suspend"] is True
    eventually(lambda: project.known(gvr, made).suspended, "it is known that it is suspended")
    await project.do(gvr, made, "resume")
    assert project.read(gvr, made)["spec"]["suspend"] is False


async def test_a_finished_job_cannot_be_suspended(project: Project) -> None:
    made = project.make(types.JOBS, workload(types.JOBS))
    end(project, made)
    page = await project.client().get(project.url(types.JOBS, made, "suspend"))
    assert page.status_code == 409


@pytest.mark.parametrize(
    ("action", "data", "command"),
    [
        ("scale", {"replicas": "2"}, "scale deployment NAME --replicas=2"),
        ("restart", {}, "rollout restart deployment NAME"),
        ("pause", {}, "rollout pause deployment NAME"),
    ],
)
async def test_actions_have_the_same_effect_as_kubectl(
    project: Project, kubectl: Kubectl, action: str, data: dict[str, str], command: str
) -> None:
    gvr = types.DEPLOYMENTS
    one, other = (project.make(gvr, workload(gvr)) for _ in range(2))
    await project.do(gvr, one, action, **data)
    kubectl(*command.replace("NAME", other["metadata"]["name"]).split())
    assert alike(project.read(gvr, one)) == alike(project.read(gvr, other))


ACTIONS = [
    (types.DEPLOYMENTS, "scale", "patch scale of deployments"),
    (types.DEPLOYMENTS, "restart", "patch deployments"),
    (types.DEPLOYMENTS, "pause", "patch deployments"),
    (types.DEPLOYMENTS, "rollback", "patch deployments"),
    (types.CRON_JOBS, "run", "create jobs"),
    (types.CRON_JOBS, "suspend", "patch CronJobs"),
    (types.JOBS, "suspend", "patch jobs"),
]
SENT = {"replicas": "5", "name": "by-nobody", "revision": "1"}


@pytest.mark.parametrize(("gvr", "action", "right"), ACTIONS)
async def test_a_recreated_object_of_the_same_name_is_not_changed(
    project: Project, gvr: GVR, action: str, right: str
) -> None:
    made = (
        make_two_revisions(project, gvr)
        if action == "rollback"
        else project.make(gvr, workload(gvr))
    )
    before = project.read(gvr, made)["metadata"]["generation"]
    sent = {**SENT, "uid": "another"}
    page = await project.client().post(project.url(gvr, made, action), sent)
    assert page.status_code in (409, 422)
    assert "replaced by another object with the same name" in await text_of(page)
    assert project.read(gvr, made)["metadata"]["generation"] == before


@pytest.mark.parametrize(("gvr", "action", "right"), ACTIONS)
async def test_users_without_permission_see_the_missing_permission(
    project: Project, gvr: GVR, action: str, right: str
) -> None:
    made = project.make(gvr, workload(gvr))
    sent = {**SENT, "uid": made["metadata"]["uid"]}
    for who, told in (("charlie", "list"), ("bob", right)):
        page = await ClientAs()(who).post(project.url(gvr, made, action), sent)
        assert page.status_code == 403
        assert f"You don't have permission to {told}" in html.unescape(await text_of(page))
    assert project.read(gvr, made)["metadata"]["generation"] == 1


@pytest.mark.parametrize(("gvr", "action", "right"), ACTIONS)
async def test_api_clients_receive_a_status(
    project: Project, gvr: GVR, action: str, right: str
) -> None:
    roll_back = action == "rollback"
    made = make_two_revisions(project, gvr) if roll_back else project.make(gvr, workload(gvr))
    before = project.read(gvr, made)
    sent = {**SENT, "name": unique("by-program"), "uid": made["metadata"]["uid"]}
    answer = await project.client(**JSON).post(project.url(gvr, made, action), sent)
    status = json.loads(await text_of(answer))
    assert (answer.status_code, status["status"]) == (200, "Success"), status
    if action == "run":
        assert project.admin.get(project.path(types.JOBS, sent["name"])).ok()
    else:
        assert project.read(gvr, made)["spec"] != before["spec"]


async def test_a_bulk_action_reports_the_result_for_each_object(project: Project) -> None:
    gvr = types.DEPLOYMENTS
    several = [project.make(gvr, workload(gvr)) for _ in range(2)]
    lines = [
        f"{uid} {project.namespace}%2F{made['metadata']['name']}"
        for made, uid in zip(several, (several[0]["metadata"]["uid"], "another"), strict=True)
    ]
    done = await project.client().post(
        "/bulk/host/deployments/pause", {"targets": "\n".join(lines)}
    )
    text = await text_of(done)
    assert 'data-done="1"' in text and "replaced by another object with the same name" in text
    paused = [project.read(gvr, made)["spec"].get("paused", False) for made in several]
    assert paused == [True, False]
