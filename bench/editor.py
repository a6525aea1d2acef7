"""Edit a manifest, compared with kubectl.

Opening the editor is compared with `kubectl get -o yaml`, the first step of `kubectl edit`.
Reviewing the change is compared with `kubectl diff --server-side`, which also uses a dry run on
the server.
"""

import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from statistics import median

from bench.pages import FEW_PODS
from bench.reading import MISTAKE, Page, Reader, hidden, percentiles
from bench.result import Result, percentile
from bench.stage import NAMESPACE, PLACE, TwoUsers
from bench.worldspec import RelatedObject, around
from console.kube.gvr import CONFIG_MAPS, STATEFUL_SETS

#: Repetitions per manifest; fewer for clusters with few pods.
_TIMES, _TIMES_OF_FEW = 40, 15
_WARM = 3
#: Pages of another user to request without edits, and seconds of requests during edits.
_CALM, _SECONDS = 200, 10.0
#: Size of the large manifest. kube-apiserver limits ConfigMap values to 1 MiB, and etcd objects to
#: 1.5 MiB.
_VALUES, _LINES, _LINE = 20, 1_100, "setting.{:04}: of value {:02}, in some more words\n"
#: Additional environment variables of the small manifest.
_VARIABLES = 60
_META = {"name": "edited", "namespace": NAMESPACE}
#: kubectl diff exits with 1 if there are differences.
_DIFF, _DIFFERS = ("diff", "--server-side", "--force-conflicts", "--filename=-"), 1


@dataclass(frozen=True, slots=True)
class _Manifest:
    """An object to edit. `size`: part of the result names. `old`: text that occurs once and is
    replaced by `new`.
    """

    size: str
    object: RelatedObject
    old: str
    new: str

    @property
    def words(self) -> tuple[str, str]:
        """Type and name as kubectl arguments."""
        return self.object.gvr.resource, self.object.body["metadata"]["name"]


def _small() -> _Manifest:
    """Return a StatefulSet of the loaded cluster with additional environment variables."""
    found = (one for number in range(100) for one in around(number) if one.gvr == STATEFUL_SETS)
    body = next(found).body
    spec = body["spec"]
    pod = spec["template"]["spec"]
    first, *others = pod["containers"]
    more = [{"name": f"SETTING_{n}", "value": f"of setting {n}"} for n in range(_VARIABLES)]
    pod = {**pod, "containers": [{**first, "env": [*first["env"], *more]}, *others]}
    spec = {**spec, "template": {**spec["template"], "spec": pod}}
    made = RelatedObject(STATEFUL_SETS, {**body, "metadata": _META, "spec": spec})
    return _Manifest("10kb", made, "replicas: 5", "replicas: 6")


def _large() -> _Manifest:
    data = {
        f"part-{at:02}.conf": "".join(_LINE.format(line, at) for line in range(_LINES))
        for at in range(_VALUES)
    }
    head = {"apiVersion": CONFIG_MAPS.group_version, "kind": "ConfigMap", "metadata": _META}
    made = RelatedObject(CONFIG_MAPS, {**head, "data": data})
    return _Manifest("1mb", made, _LINE.format(7, 7), _LINE.format(7, 77))


def objects() -> Iterator[RelatedObject]:
    return (manifest.object for manifest in (_small(), _large()))


async def results(stage: TwoUsers) -> list[Result]:
    small, large = _Editor(stage, _small()), _Editor(stage, _large())
    return [*await small.results(), *await large.results(), *await _noticed(stage, large)]


async def _noticed(stage: TwoUsers, editor: "_Editor") -> list[Result]:
    """Measure another user's pages during edits in the console and with kubectl, in turn."""
    stage.report("pages during edits\n")
    calm: list[float] = []
    late: list[float] = []
    for edit in (editor.edit, editor.edit_by_kubectl):
        calm += await stage.pages(_CALM)
        _done, pages = await stage.measure_during(_again(edit))
        late.append(percentile(pages, 0.95))
    usual, pods = percentile(calm, 0.95), stage.cluster.pods
    ours, theirs = late
    return [
        Result("page_p95_during_edit_ms", pods, ours, "ms"),
        Result("page_ratio_during_edit", pods, ours / usual, "x"),
        Result("page_ratio_during_edit_kubectl", pods, theirs / usual, "x"),
    ]


async def _again(edit: Callable[[], Awaitable[None]]) -> None:
    ends = time.monotonic() + _SECONDS
    while time.monotonic() < ends:
        await edit()


class _Editor:
    """Measures the console and kubectl in turn, so that other load on the machine affects both
    equally.
    """

    def __init__(self, stage: TwoUsers, manifest: _Manifest) -> None:
        self._stage, self._manifest = stage, manifest
        self._url = "/".join((PLACE, *manifest.words, "edit"))

    async def results(self) -> list[Result]:
        size, pods = self._manifest.size, self._stage.cluster.pods
        self._stage.report(f"opening and reviewing {size}\n")
        for _ in range(_WARM):
            await self.edit()
        opened, reviewed = _Times(), _Times()
        length = 0
        for _ in range(_TIMES if pods > FEW_PODS else _TIMES_OF_FEW):
            page, text = await self._open()
            took, _text = await self._kubectl_get()
            opened.add(page, took)
            length = len(text.encode())
            page, text = await self._review(text)
            reviewed.add(page, await self._kubectl_diff(hidden(text)["text"]))
            await self._discard(text)
        return [
            *opened.results(f"edit_open_{size}", pods),
            Result(f"edit_open_{size}_bytes", pods, length, "B"),
            *reviewed.results(f"edit_review_{size}", pods),
        ]

    async def edit(self) -> None:
        """Open the editor, review the change, and discard it."""
        _page, text = await self._open()
        _page, text = await self._review(text)
        await self._discard(text)

    async def edit_by_kubectl(self) -> None:
        """Get the object, and show the differences."""
        _took, text = await self._kubectl_get()
        await self._kubectl_diff(self._changed(text))

    async def _open(self) -> tuple[Page, str]:
        return await self._reader('name="base"').one(self._url)

    async def _review(self, text: str) -> tuple[Page, str]:
        form = hidden(text)
        form |= {"text": self._changed(form["base"]), "step": "review"}
        return await self._reader("<ins>").one(self._url, form)

    def _changed(self, text: str) -> str:
        old, new = self._manifest.old, self._manifest.new
        if text.count(old) != 1:
            raise OSError(f"{self._url} does not contain exactly once: {old}")
        return text.replace(old, new)

    async def _discard(self, text: str) -> None:
        """Discard the draft, so that the next repetition starts without one."""
        await self._reader('name="base"').one(self._url, {**hidden(text), "step": "discard"})

    async def _kubectl_get(self) -> tuple[float, str]:
        return await self._stage.kubectl("get", *self._manifest.words, "--output=yaml")

    async def _kubectl_diff(self, text: str) -> float:
        took, _told = await self._stage.kubectl(*_DIFF, input=text, code=_DIFFERS)
        return took

    def _reader(self, shows: str) -> Reader:
        return Reader(self._stage.console, self._stage.acting, shows, MISTAKE)


@dataclass(frozen=True, slots=True)
class _Times:
    """Response times of pages, and durations of kubectl in milliseconds."""

    pages: list[Page] = field(default_factory=list)
    kubectl: list[float] = field(default_factory=list)

    def add(self, page: Page, kubectl: float) -> None:
        self.pages.append(page)
        self.kubectl.append(kubectl)

    def results(self, name: str, pods: int) -> list[Result]:
        """Return the results. The ratio compares times that are measured at the client."""
        ratio = median(page.client for page in self.pages) / median(self.kubectl)
        return [
            *percentiles(name + "_{}_ms", pods, [page.server for page in self.pages]),
            Result(f"{name}_ratio_kubectl", pods, ratio, "x"),
        ]
