"""Performance targets on two cores that are shared with the server."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.result import Result

#: Numbers of pods and sockets for the targets, unless they state others.
PODS, SOCKETS = 10_000, 500


@dataclass(frozen=True, slots=True)
class Target:
    """`name`: name of the result. `bound`: maximum, or minimum with `at_least`."""

    name: str
    label: str
    bound: float
    at_least: bool = False

    def used(self, value: float) -> float:
        """Return the used share of the limit. A value above 1 misses the target."""
        return self.bound / value if self.at_least else value / self.bound


TARGETS = (
    Target("sync_ratio_client_go", "Sync, relative to client-go", 1.25),
    Target(
        "sync_ratio_official_informer", "Sync, kubernetes.informer relative to us", 8, at_least=True
    ),
    Target("memory_ratio_client_go", "Memory per pod, relative to client-go", 1 / 6),
    Target("bytes_per_object", "Memory per pod", 6000),
    Target("sync_peak_over_resting", "Peak memory during sync, relative to after", 2),
    Target("events_per_second_recorded", "Recorded events", 20_000, at_least=True),
    Target("lag_p99_ms", "Change to cache, p99", 250),
    Target("page_p95_ms", "First page, p95", 15),
    Target("page_p99_ms", "First page, p99", 40),
    Target("page_slowest_view_ratio", "Slowest sort or page, relative to first", 2),
    Target("page_tenant_ratio", "Tenant's page, relative to first", 1),
    Target("page_p99_during_relist_ms", "First page during a relist, p99", 100),
    Target("page_p95_growth", "First page, 50,000 relative to 10,000 pods", 1.5),
    Target("search_p95_ms", "Slowest search, p95", 50),
    Target("detail_p95_ms", "Slowest detail tab, p95", 60),
    Target("overview_p95_ms", "Slowest overview, p95", 60),
    Target("list_p95_ms", "Slowest other list, p95", 60),
    Target("wizard_p95_ms", "Slowest wizard request without dry run, p95", 60),
    Target("page_p99_during_signins_ms", "Pages while 50 people sign in, p99", 150),
    Target("signin_timing_difference", "Wrong password, difference by username", 0.1),
    Target("edit_open_1mb_p95_ms", "Editor of 1 MB, p95", 1000),
    Target("edit_review_10kb_ratio_kubectl", "Review, relative to kubectl diff", 1),
    Target("bulk_restart_ratio_kubectl", "Restart of 200, relative to kubectl", 1),
    Target("page_ratio_during_edit", "Other users' page, edits of 1 MB, p95", 1.2),
    Target("page_ratio_during_bulk", "Other users' page, restart of 200, p95", 1.2),
    Target("log_first_line_p95_ms", "First line of a log, p95", 300),
    Target("page_ratio_during_log", "Other users' page, 20,000 log lines/s, p95", 1.5),
    Target("log_bytes_per_open", "Memory per followed log", 100_000),
    Target("terminal_bytes_per_open", "Memory per idle terminal", 100_000),
    Target("terminal_echo_over_kubectl_ms", "Terminal echo over kubectl exec, p95", 50),
    Target("gateway_event_later_p95_ms", "Event through the gateway, later, p95", 2),
    Target("gateway_list_ratio_direct", "List of pods through the gateway, relative", 1.2),
    Target("gateway_list_memory", "Memory of the gateway for a list", 32 * 2**20),
    Target("gateway_bytes_per_watch", "Memory per idle watch through the gateway", 100_000),
    Target("rights_repeated_us", "Repeated permission check", 3),
    Target("rights_first_ms", "First permission check of a user, p95", 5),
    Target("rights_changed_ms", "Check after a binding changed, p95", 5),
    Target("rights_mb", "Memory for permissions of 2,000 users", 150),
    Target("audit_search_p95_ms_sqlite", "Search of 1 million audit records, SQLite, p95", 500),
    Target("audit_search_p95_ms_postgresql", "Search of 1 million records, PostgreSQL, p95", 200),
    Target("frame_p95_ms", "Change to websocket, p95", 350),
    Target("browser_cores", "Browser with an open list, cores", 0.1),
    Target("frame_p95_ms_mixed", "Change to websocket, many lists, p95", 350),
)


def met(results: Sequence[Result]) -> Iterator[tuple[Target, Result]]:
    """Yield each target with the result of the nearest size, if one exists."""
    for target in TARGETS:
        found = [result for result in results if result.name == target.name]
        if found:
            wanted = SOCKETS if target.name.startswith("frame") else PODS
            yield target, min(found, key=lambda result: abs(result.n - wanted))


def growth(results: Sequence[Result]) -> list[Result]:
    """Return how much slower the first page is with more pods than `PODS`."""
    pages = {result.n: result.value for result in results if result.name == "page_p95_ms"}
    if PODS not in pages:
        return []
    return [
        Result("page_p95_growth", n, value / pages[PODS], "x")
        for n, value in pages.items()
        if n > PODS
    ]
