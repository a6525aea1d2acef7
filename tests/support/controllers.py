"""Controllers without work queues, for tests that reconcile step by step."""

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import cast

from console.kube.controller import Factory, GroupingReconciler, NotSynced, Reconciler, Request
from console.kube.errors import Conflict
from console.kube.gvr import Key
from console.kube.runtime import Runtime
from tests.support.staticruntime import StaticRuntime

Look = tuple[Reconciler, Request]


class Controllers:
    """Reconcile every cached object once, then only objects changed by an event.

    A state that converges in a test therefore converges because of an event that leads to the
    right request. With `rng`, requests are processed in random order, like work queues
    running in parallel.
    """

    def __init__(
        self, runtime: StaticRuntime, factories: Sequence[Factory], rng: Random | None = None
    ) -> None:
        # A dict keeps the order of the requests and removes duplicates.
        self._told: dict[Look, None] = {}
        self._again: dict[Look, None] = {}
        self._chance = rng
        for factory in factories:
            reconciler = factory(cast(Runtime, runtime))
            informer = runtime.informer(reconciler.gvr)
            informer.add_listener(partial(self._changed, reconciler))
            for key in informer.store.snapshot().entries:
                self._changed(reconciler, key)

    async def work(self) -> bool:
        """Process the due requests, including the requeued ones. Return False if no object changed
        since the last call.
        """
        told, again = self._told, self._again
        self._told, self._again = {}, {}
        looks = [*{**told, **again}]
        if self._chance is not None:
            self._chance.shuffle(looks)
        for reconciler, request in looks:
            try:
                result = await reconciler.reconcile(request)
            except (Conflict, NotSynced):
                self._again[reconciler, request] = None
            else:
                if result.requeue_after is not None:
                    self._again[reconciler, request] = None
        return bool(told)

    def _changed(self, reconciler: Reconciler, key: Key) -> None:
        request: Request | None = Request(key.namespace, key.name)
        if isinstance(reconciler, GroupingReconciler):
            request = reconciler.request_for(key)
        if request is not None:
            self._told[reconciler, request] = None
