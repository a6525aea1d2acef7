"""Response times of wizards while pods change: steps of several kinds, the generated form of a custom
resource, and saving a step as a draft. No request includes a dry run.
"""

import asyncio
from collections.abc import Mapping
from secrets import token_hex
from typing import Any

import aiohttp

from bench.churn import ChurnProcess, order
from bench.cluster import LoadedControlPlane
from bench.pages import AT_MOST, FEW_PODS, RATE
from bench.podspec import namespace_name
from bench.reading import MISTAKE, Page, Reader, hidden, percentiles
from bench.result import Result, percentile
from bench.webconsole import WebConsole
from bench.writing import Writer
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, GVR
from tests.controlplane.build import Report

STORES = GVR("bench.example.com", "v1", "stores")
NEW = "/clusters/host/new"
#: Steps by name: resource and step.
STEPS = {
    "containers": ("deployments", "containers"),
    "scheduling": ("deployments", "scheduling"),
    "service": ("services", "form"),
    "ingress": ("ingresses", "form"),
    "network_policy": ("networkpolicies", "form"),
    "generated": (STORES.qualified, ""),
}
_WARM, _ENOUGH = 5, 60
#: Fields of each of the custom resource's sections, and number of sections.
_FIELDS, _SECTIONS = 8, 6
#: Seconds until the console serves a new type, and between two attempts.
_SERVED_SECONDS, _LOOK = 60.0, 0.5


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    """Measure with one client that sends requests at a fixed rate. `rounds` is ignored."""
    asyncio.run(_define(cluster))
    report("starting the console\n")
    with (
        WebConsole(cluster) as console,
        ChurnProcess(order(cluster, AT_MOST, RATE, generation=9)),
    ):
        read = asyncio.run(_read(console, cluster.pods, report))
    slowest = max(read.values(), key=lambda times: percentile(times, 0.95))
    return [
        *percentiles("wizard_{}_ms", cluster.pods, slowest),
        *(
            Result(f"wizard_{name}_p95_ms", cluster.pods, percentile(times, 0.95), "ms")
            for name, times in read.items()
        ),
    ]


async def _define(cluster: LoadedControlPlane) -> None:
    writer, path = Writer(cluster.access), CUSTOM_RESOURCE_DEFINITIONS.path()
    try:
        await writer.send("POST", path, _definition(), manager="bench-wizards")
    finally:
        await writer.close()


async def _read(console: WebConsole, pods: int, report: Report) -> dict[str, list[float]]:
    """Return the server times by name, in milliseconds."""
    enough = _ENOUGH if pods > FEW_PODS else _ENOUGH // 3
    place = f"?namespace={namespace_name(1)}"
    urls = {
        name: f"{NEW}/{resource}{place}" + (f"&step={step}" if step else "")
        for name, (resource, step) in STEPS.items()
    }
    async with await console.signed_in(console.accounts[0]) as session:
        await _served(session, urls["generated"])
        reader = Reader(console, session, 'id="draft"', MISTAKE)
        read = {}
        for name, url in urls.items():
            report(f"reading wizard_{name}\n")
            read[name] = _times(await reader.read(url, _WARM + enough))
        report("reading wizard_save\n")
        _page, text = await reader.one(urls["containers"])
        read["save"] = _times(await _saves(console, session, hidden(text), _WARM + enough))
    return read


async def _saves(
    console: WebConsole, session: aiohttp.ClientSession, form: Mapping[str, str], times: int
) -> list[Page]:
    """Save a step repeatedly, with another value each time."""
    reader = Reader(console, session, "", MISTAKE, status=204)
    url = f"{NEW}/deployments/{token_hex(8)}/save"
    pages = []
    for number in range(times):
        sent = {**form, "version": str(number), "containers.0.image": f"example/web:{number}"}
        page, _text = await reader.one(url, sent)
        pages.append(page)
    return pages


async def _served(session: aiohttp.ClientSession, url: str) -> None:
    """Wait until the console knows the custom resource. Raise OSError after a timeout."""
    for _attempt in range(int(_SERVED_SECONDS / _LOOK)):
        async with session.get(url) as response:
            if response.status == 200 and 'id="draft"' in await response.text():
                return
        await asyncio.sleep(_LOOK)
    raise OSError(f"{url} is not served")


def _times(pages: list[Page]) -> list[float]:
    return [page.server for page in pages[_WARM:]]


def _definition() -> dict[str, Any]:
    """Return the definition of a custom resource with sections of fields and lists."""
    types = ("string", "integer", "boolean")
    plain = {
        f"field{number}": {"type": types[number % len(types)], "description": "A field."}
        for number in range(_FIELDS)
    }
    section = {"type": "object", "properties": plain, "required": ["field0"]}
    sections = {f"section{number}": section for number in range(_SECTIONS)}
    rows = {"type": "array", "items": section}
    spec = {"type": "object", "properties": {**sections, "rows": rows}}
    schema = {"type": "object", "properties": {"spec": spec}}
    return {
        "apiVersion": CUSTOM_RESOURCE_DEFINITIONS.group_version,
        "kind": "CustomResourceDefinition",
        "metadata": {"name": STORES.qualified},
        "spec": {
            "group": STORES.group,
            "scope": "Namespaced",
            "names": {"plural": STORES.resource, "singular": "store", "kind": "Store"},
            "versions": [
                {
                    "name": STORES.version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }
