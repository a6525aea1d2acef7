"""Manifests of wizards of workloads after choices that set several fields."""

from copy import deepcopy
from datetime import UTC, datetime
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from django.http import QueryDict

from console.kube.gvr import LIMIT_RANGES, NODES, Key
from console.ui.core.gpus import GpuKind
from console.ui.wizard.fields import BoundField
from console.ui.wizard.parts import walk
from console.ui.wizard.paths import value_at, write_at
from console.ui.wizard.state import WizardContext
from console.ui.wizard.wizard import Wizard, WizardDraft
from console.wizards import jobs, quick, workloads
from console.wizards.resources import GpuInput
from tests.support.depth import SEED, number
from tests.support.wizard_forms import manifest_variation, offline, step_fields, step_html
from tests.wizards import rich

NEW = offline()
POD = ("spec", "template", "spec")
CONTAINER = (*POD, "containers", 0)


def begun(wizard: Wizard, context: WizardContext = NEW) -> WizardDraft:
    draft = WizardDraft.of(wizard, context, [])
    submit(draft, "basics", name="api")
    return draft


def submit(draft: WizardDraft, step: str, act: str = "", **values: str) -> None:
    """Submit a step like a browser. `__` in a name stands for a dot."""
    found = draft.wizard.step(step)
    assert found is not None
    sent: QueryDict = step_fields(draft, found)
    for name, value in values.items():
        sent[name.replace("__", ".")] = value
    draft.submit(found, sent, act)


def html(draft: WizardDraft, step: str) -> str:
    found = draft.wizard.step(step)
    assert found is not None
    return step_html(draft, found)


@pytest.mark.parametrize("wizard", [workloads.DEPLOYMENT, jobs.JOB, jobs.CRON_JOB])
def test_the_restricted_preset_covers_the_pod_and_all_containers(wizard: Wizard) -> None:
    draft = begun(wizard)
    submit(draft, "containers", "containers.add", **{"containers__0__privileged": "on"})
    submit(draft, "settings", "restricted.fill")
    pod = value_at(draft.main, ("spec", "template", "spec")) or value_at(
        draft.main, ("spec", "jobTemplate", "spec", "template", "spec")
    )
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    expected = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert [one["securityContext"] for one in pod["containers"]] == [expected, expected]
    assert "The restricted settings are used." in html(draft, "settings")
    submit(draft, "settings")
    assert pod["securityContext"]["runAsNonRoot"] is True


def test_a_placement_selects_the_workloads_own_pods_even_after_a_new_name() -> None:
    draft = begun(workloads.DEPLOYMENT)
    submit(draft, "scheduling", placement="nodes")
    [term] = value_at(draft.main, (*POD, "affinity", "podAntiAffinity", PREFERRED))
    assert term["podAffinityTerm"]["labelSelector"] == {"matchLabels": {"app": "api"}}
    submit(draft, "basics", name="web")
    [term] = value_at(draft.main, (*POD, "affinity", "podAntiAffinity", PREFERRED))
    assert term["podAffinityTerm"]["labelSelector"] == {"matchLabels": {"app": "web"}}
    assert 'value="nodes" data-reloads checked' in html(draft, "scheduling")
    assert not draft.yaml_only()


def test_another_placement_keeps_the_node_affinity() -> None:
    draft = begun(workloads.DEPLOYMENT)
    nodes: dict[str, Any] = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}
    }
    draft.main["spec"]["template"]["spec"]["affinity"] = {"nodeAffinity": nodes}
    for choice in ("zones", "together", "custom", "default"):
        submit(draft, "scheduling", placement=choice)
        affinity = value_at(draft.main, (*POD, "affinity"))
        assert affinity["nodeAffinity"] == nodes
        assert len(affinity) == (1 if choice == "default" else 2)


def test_a_gpu_limit_is_also_the_request() -> None:
    draft = begun(workloads.DEPLOYMENT)
    name = {"containers__0__gpu-nvidia-com-gpu": "2"}
    submit(draft, "containers", **name)
    resources = value_at(draft.main, (*CONTAINER, "resources"))
    assert resources == {"limits": {"nvidia.com/gpu": "2"}, "requests": {"nvidia.com/gpu": "2"}}
    submit(draft, "containers", **{"containers__0__gpu-nvidia-com-gpu": ""})
    assert "resources" not in value_at(draft.main, CONTAINER)


def test_gpus_of_the_configuration_and_of_nodes_are_offered() -> None:
    kinds = (GpuKind("nvidia.com/gpu", "GPU", is_default=True), GpuKind("amd.com/gpu", "AMD"))
    context = offline(objects={NODES: [node("example.com/fpga", "nvidia.com/gpu")]}, gpus=kinds)
    draft = WizardDraft.of(workloads.DEPLOYMENT, context, [])
    submit(draft, "containers", **{"containers__0__gpu-example-com-fpga": "3"})
    step = workloads.DEPLOYMENT.step("containers")
    assert step is not None
    labels = [
        str(one.field.label)
        for part in draft.bound(step)
        for one in walk(part)
        if isinstance(one, BoundField) and isinstance(one.field, GpuInput)
    ]
    assert labels == ["GPU", "AMD", "example.com/fpga"]
    amounts = {"example.com/fpga": "3"}
    resources = value_at(draft.main, (*CONTAINER, "resources"))
    assert resources == {"limits": amounts, "requests": amounts}
    # Devices that neither the configuration nor a node has are shown if the container requests them.
    elsewhere = WizardDraft.of(workloads.DEPLOYMENT, offline(gpus=kinds), [draft.main])
    assert not elsewhere.yaml_only()


def test_the_time_zone_of_the_node_is_mounted_and_removed() -> None:
    draft = begun(workloads.DEPLOYMENT)
    submit(draft, "containers", containers__0__hostTime="on")
    assert value_at(draft.main, (*CONTAINER, "volumeMounts")) == [
        {"name": "host-time", "mountPath": "/etc/localtime", "readOnly": True}
    ]
    assert value_at(draft.main, (*POD, "volumes"))[0]["hostPath"]["path"] == "/etc/localtime"
    assert not draft.yaml_only()
    # The checkbox of the submitted page is still checked.
    submit(draft, "containers", "containers.0.volumeMounts.0.remove")
    assert "volumeMounts" not in value_at(draft.main, CONTAINER)
    submit(draft, "containers", containers__0__hostTime="on")
    submit(draft, "containers", containers__0__hostTime="")
    assert value_at(draft.main, POD) == {"containers": [{"name": "app"}]}


def test_a_stateful_set_names_its_headless_service() -> None:
    draft = begun(workloads.STATEFUL_SET)
    submit(draft, "containers", "containers.0.ports.add")
    submit(draft, "containers", containers__0__ports__0__containerPort="5432")
    [main, service] = draft.manifests
    assert main["spec"]["serviceName"] == "api"
    assert service["metadata"] == {"name": "api", "namespace": "shop"}
    assert service["spec"] == {
        "clusterIP": "None",
        "ports": [{"name": "port-5432", "port": 5432, "targetPort": 5432}],
        "selector": {"app": "api"},
    }
    submit(draft, "network", service__name="db")
    assert main["spec"]["serviceName"] == "db"
    submit(draft, "network", service="")
    submit(draft, "network", serviceName="other")
    assert draft.manifests == [main] and main["spec"]["serviceName"] == "other"


def test_an_ingress_is_removed_with_its_service() -> None:
    draft = begun(workloads.DEPLOYMENT)
    submit(draft, "network", ingress="on")
    submit(draft, "network", ingress__host="shop.example.com")
    submit(draft, "network", service="")
    assert draft.manifests == [draft.main]
    submit(draft, "network", service="on")
    [_main, service, ingress] = draft.manifests
    assert service["kind"] == "Service"
    assert ingress["spec"]["rules"][0]["host"] == "shop.example.com"


def test_an_ingress_brings_its_service() -> None:
    draft = begun(workloads.DEPLOYMENT)
    submit(draft, "network", ingress="on")
    submit(draft, "network", ingress__host="shop.example.com")
    [_main, service, ingress] = draft.manifests
    [path] = ingress["spec"]["rules"][0]["http"]["paths"]
    assert path["backend"] == {"service": {"name": "api", "port": {"number": 80}}}
    assert service["spec"]["selector"] == {"app": "api"}
    assert ingress["spec"]["rules"][0]["host"] == "shop.example.com"
    assert not draft.yaml_only()


def test_a_live_strategy_shows_its_fields() -> None:
    draft = begun(workloads.DEPLOYMENT)
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "0%"}}
    draft.main["spec"]["strategy"] = strategy
    assert 'name="strategy.rolling.maxUnavailable" value="0%"' in html(draft, "settings")
    assert not draft.yaml_only()
    submit(draft, "settings", strategy="recreate")
    assert draft.main["spec"]["strategy"] == {"type": "Recreate"}


def test_a_schedule_shows_its_next_five_runs_in_its_time_zone() -> None:
    draft = begun(jobs.CRON_JOB)
    assert draft.main["spec"]["concurrencyPolicy"] == "Forbid"
    submit(draft, "schedule", schedule="0 12 29 2 *", timeZone="Asia/Tokyo")
    year = next(y for y in range(datetime.now(UTC).year, 2100) if y % 4 == 0)
    page = html(draft, "schedule")
    assert f"{year + 4}-02-29 12:00" in page and "(Asia/Tokyo)" in page
    submit(draft, "schedule", schedule="0 25 * * *", timeZone="Mars/Base")
    step = draft.wizard.step("schedule")
    assert step is not None
    assert [str(error) for _field, error in draft.errors(step)] == [
        "Wrong hour: use 0 to 23.",
        "Enter a time zone, such as Europe/Berlin or Etc/UTC.",
    ]


def test_a_cron_jobs_name_leaves_room_for_the_names_of_its_jobs() -> None:
    draft = begun(jobs.CRON_JOB)
    step = draft.wizard.steps[0]
    submit(draft, "basics", name="a" * 53)
    assert any("52" in str(error) for _field, error in draft.errors(step))
    submit(draft, "basics", name="a" * 52)
    assert not any("52" in str(error) for _field, error in draft.errors(step))


def entry(**found: Any) -> Any:
    return SimpleNamespace(key=Key("", "one"), **found)


def node(*devices: str, **labels: str) -> Any:
    return entry(projection=SimpleNamespace(labels=labels, devices=devices))


def limits() -> Any:
    limit = {
        "type": "Container",
        "min": {"cpu": "50m"},
        "max": {"cpu": "2"},
        "default": {"memory": "512Mi"},
        "defaultRequest": {"cpu": "100m"},
    }
    return entry(original=lambda: {"spec": {"limits": [{"type": "Pod"}, limit]}})


def test_fields_say_what_the_cluster_has_and_allows() -> None:
    draft = begun(
        workloads.DEPLOYMENT,
        offline(objects={NODES: [node(disk="ssd"), node(disk="hdd")], LIMIT_RANGES: [limits()]}),
    )
    page = html(draft, "containers")
    assert "Default of the project: 100m. Project allows 50m to 2." in page
    assert "Default of the project: 512Mi." in page
    submit(draft, "scheduling", nodeSelector="disk=ssd")
    assert "Matching nodes now: 1 of 2" in html(draft, "scheduling")


ACTS = (
    "restricted.fill",
    "containers.add",
    "containers.0.copy",
    "containers.0.volumeMounts.add",
    "placement.custom.podAffinity-required.add",
)
TEXTS = ("on", "", "5", "x y", "a=b", "nodes", "custom", "together", "rolling", "500m")
OF_ANY_SHAPE = [
    (quick.DEPLOYMENT, rich.DEPLOYMENT),
    (workloads.STATEFUL_SET, rich.STATEFUL_SET),
    (jobs.CRON_JOB, rich.CRON_JOB),
]


@pytest.mark.parametrize(("wizard", "manifest"), OF_ANY_SHAPE)
def test_any_input_to_a_manifest_of_any_shape_is_answered(
    wizard: Wizard, manifest: dict[str, Any]
) -> None:
    random = Random(SEED)  # noqa: S311
    for _count in range(number(12, 2000)):
        draft = WizardDraft.of(wizard, NEW, [manifest_variation(manifest, random, 0.2)])
        for step in (*wizard.steps, *filter(None, [wizard.quick])):
            for act in random.sample(ACTS, 2):
                sent = step_fields(draft, step)
                for name in random.sample([*sent], len(sent) // 3):
                    sent[name] = random.choice(TEXTS)
                draft.submit(step, sent, act)
            draft.errors(step)
        state = draft.state("")
        assert [one["kind"] for one in draft.manifests][0] == manifest["kind"]
        assert wizard.facts(draft.scope(state)) is not None
        wizard.warnings(state)
        draft.yaml_only()


PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def test_services_that_select_other_pods_stay_unchanged() -> None:
    draft = begun(workloads.STATEFUL_SET)
    labels = {"name": "db"}
    write_at(draft.main, ("spec", "selector", "matchLabels"), labels)
    write_at(draft.main, ("spec", "template", "metadata", "labels"), {**labels, "tier": "a"})
    write_at(draft.main, ("spec", "serviceName"), "db")
    others = [
        service("web", {"app": "web"}),
        service("public", labels),
        {**service("db", labels), "metadata": {"name": "db", "namespace": "kube-system"}},
    ]
    own = service("db", {"tier": "a"})
    own["metadata"]["namespace"] = "shop"
    main = deepcopy(draft.main)
    for manifests in ([main, *others, own], [*others, main, own]):
        pasted = WizardDraft.of(workloads.STATEFUL_SET, NEW, deepcopy(manifests))
        submit(pasted, "basics")
        assert pasted.documents["service"] == own
        assert pasted.others == others and pasted.main == main


def test_an_ingress_of_another_service_stays_unchanged() -> None:
    draft = begun(workloads.DEPLOYMENT)
    submit(draft, "network", service="on", ingress="on")
    port = {"name": "admin"}
    ingress = draft.documents["ingress"]
    write_at(draft.documents["service"], ("spec", "ports"), [{"port": 80}, {"port": 9, **port}])
    backend = ("spec", "rules", 0, "http", "paths", 0, "backend", "service")
    write_at(ingress, (*backend, "port"), port)
    submit(draft, "basics", name="web")
    assert value_at(ingress, backend) == {"name": "web", "port": {"number": 80}}
    write_at(ingress, (*backend, "port"), port)
    submit(draft, "basics")
    assert value_at(ingress, backend) == {"name": "web", "port": port}
    write_at(ingress, (*backend, "name"), "other")
    pasted = WizardDraft.of(workloads.DEPLOYMENT, NEW, deepcopy(draft.manifests))
    submit(pasted, "basics", name="shop")
    assert pasted.others == [ingress]


def service(name: str, selector: dict[str, str]) -> dict[str, Any]:
    spec = {"selector": selector, "ports": [{"port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}
