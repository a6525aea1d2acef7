"""Command lines of the programs: default settings except where tests need other values."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.controlplane.layout import MASTERS, Layout

__all__ = ["ApiserverOptions", "apiserver", "controller_manager", "etcd", "kwok", "scheduler"]

_STAGES = Path(__file__).with_name("stages.yaml")


@dataclass(frozen=True, kw_only=True)
class ApiserverOptions:
    """Settings of kube-apiserver that a test can change."""

    #: Minimum duration of a watch without a client timeout, in seconds.
    min_request_timeout: int = 1800
    #: Resources (`pods`, `deployments.apps`) served by etcd instead of the watch cache. Only for
    #: these resources, a compaction discards the history while kube-apiserver runs.
    uncached: Sequence[str] = ()
    #: Additional flags, which override the flags below.
    extra: Sequence[str] = ()


def etcd(layout: Layout) -> list[str]:
    """Return the arguments of a single member. Writes are not synced to disk, which is many times
    faster.
    """
    # A single member never uses its peer address, so the kernel can choose the port.
    peer = "http://127.0.0.1:0"
    return [
        f"--data-dir={layout.folder / 'etcd'}",
        f"--listen-client-urls={layout.etcd_url}",
        f"--advertise-client-urls={layout.etcd_url}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        # Space for tests with many pods. The default of 2 GB is exhausted within minutes.
        f"--quota-backend-bytes={8 * 1024**3}",
        "--log-level=warn",
    ]


def apiserver(layout: Layout, options: ApiserverOptions, *, service_accounts: bool) -> list[str]:
    """Return the arguments with RBAC and authentication by certificate, token file and service
    account.
    """
    arguments = [
        f"--etcd-servers={layout.etcd_url}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={layout.port}",
        f"--tls-cert-file={layout.serving.certificate}",
        f"--tls-private-key-file={layout.serving.key}",
        f"--client-ca-file={layout.authority.certificate}",
        # Client certificate for kubelets. Node names cannot be resolved, so their IP address is
        # used.
        f"--kubelet-client-certificate={layout.admin.certificate}",
        f"--kubelet-client-key={layout.admin.key}",
        "--kubelet-preferred-address-types=InternalIP",
        f"--token-auth-file={layout.token_file}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={layout.service_account_key}",
        f"--service-account-signing-key-file={layout.service_account_key}",
        "--authorization-mode=Node,RBAC",
        "--service-cluster-ip-range=10.0.0.0/16",
        # A loopback address is not a valid endpoint of the `kubernetes` service.
        "--endpoint-reconciler-type=none",
        "--allow-privileged=true",
        f"--audit-policy-file={layout.audit_policy}",
        f"--audit-log-path={layout.audit_log}",
        f"--min-request-timeout={options.min_request_timeout}",
    ]
    if not service_accounts:
        # Without controllers no default service accounts exist, and pods need one to be admitted.
        arguments.append("--disable-admission-plugins=ServiceAccount")
    if options.uncached:
        sizes = ",".join(f"{resource}#0" for resource in options.uncached)
        arguments.append(f"--watch-cache-sizes={sizes}")
    return [*arguments, *options.extra]


def controller_manager(layout: Layout) -> list[str]:
    """Return the arguments. As in a real cluster, each controller uses its own service account."""
    return [
        *_controller(layout, "system:kube-controller-manager"),
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={layout.service_account_key}",
        f"--root-ca-file={layout.authority.certificate}",
        f"--cluster-signing-cert-file={layout.authority.certificate}",
        f"--cluster-signing-key-file={layout.authority.key}",
    ]


def scheduler(layout: Layout) -> list[str]:
    """Return the arguments with the default profile."""
    return _controller(layout, "system:kube-scheduler")


def _controller(layout: Layout, user: str) -> list[str]:
    return [
        f"--kubeconfig={layout.kubeconfig(user)}",
        # Only one instance runs, so leader election would only take time.
        "--leader-elect=false",
        # Health and metrics endpoints are not needed.
        "--secure-port=0",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    ]


def kwok(layout: Layout) -> list[str]:
    """Return the arguments. kwok simulates the kubelets of all nodes and needs a config file to do
    so.
    """
    return [
        f"--kubeconfig={layout.kubeconfig('kwok', (MASTERS,))}",
        f"--config={_STAGES}",
        "--manage-all-nodes",
        # A larger range than the default, which kwok exceeds when it is exhausted.
        "--cidr=10.128.0.0/9",
    ]
