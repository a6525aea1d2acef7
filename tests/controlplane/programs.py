"""The command lines of the programs: defaults, save where tests need otherwise."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.controlplane.layout import MASTERS, Layout

__all__ = ["ApiserverOptions", "apiserver", "controller_manager", "etcd", "kwok", "scheduler"]

_STAGES = Path(__file__).with_name("stages.yaml")


@dataclass(frozen=True, kw_only=True)
class ApiserverOptions:
    """What a test may want otherwise in kube-apiserver."""

    #: Seconds that a watch lasts at least when its client names no timeout.
    min_request_timeout: int = 1800
    #: Resources (`pods`, `deployments.apps`) that are served by etcd and not by the watch cache.
    #: Only for these does a compaction forget the past while kube-apiserver runs.
    uncached: Sequence[str] = ()
    #: More flags, which win over ours.
    extra: Sequence[str] = ()


def etcd(layout: Layout) -> list[str]:
    """One member. It may lose data when the machine dies, for which it is many times faster."""
    # A single member never calls its peer address, so the kernel may choose the port.
    peer = "http://127.0.0.1:0"
    return [
        f"--data-dir={layout.folder / 'etcd'}",
        f"--listen-client-urls={layout.etcd_url}",
        f"--advertise-client-urls={layout.etcd_url}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        # Room for tests with very many pods; the default of 2 GB fills within minutes.
        f"--quota-backend-bytes={8 * 1024**3}",
        "--log-level=warn",
    ]


def apiserver(layout: Layout, options: ApiserverOptions, *, service_accounts: bool) -> list[str]:
    """RBAC on, and four ways to be somebody: certificate, token file, service account, nobody."""
    arguments = [
        f"--etcd-servers={layout.etcd_url}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={layout.port}",
        f"--tls-cert-file={layout.serving.certificate}",
        f"--tls-private-key-file={layout.serving.key}",
        f"--client-ca-file={layout.authority.certificate}",
        # Who it is to kubelets, and how it finds them: nobody resolves their names.
        f"--kubelet-client-certificate={layout.admin.certificate}",
        f"--kubelet-client-key={layout.admin.key}",
        "--kubelet-preferred-address-types=InternalIP",
        f"--token-auth-file={layout.token_file}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={layout.service_account_key}",
        f"--service-account-signing-key-file={layout.service_account_key}",
        "--authorization-mode=Node,RBAC",
        "--service-cluster-ip-range=10.0.0.0/16",
        # A loopback address is no valid endpoint of the `kubernetes` service.
        "--endpoint-reconciler-type=none",
        "--allow-privileged=true",
        f"--audit-policy-file={layout.audit_policy}",
        f"--audit-log-path={layout.audit_log}",
        f"--min-request-timeout={options.min_request_timeout}",
    ]
    if not service_accounts:
        # Nobody makes the default service accounts then, and without one no pod is admitted.
        arguments.append("--disable-admission-plugins=ServiceAccount")
    if options.uncached:
        sizes = ",".join(f"{resource}#0" for resource in options.uncached)
        arguments.append(f"--watch-cache-sizes={sizes}")
    return [*arguments, *options.extra]


def controller_manager(layout: Layout) -> list[str]:
    """All controllers, each with its own service account as in a real cluster."""
    return [
        *_controller(layout, "system:kube-controller-manager"),
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={layout.service_account_key}",
        f"--root-ca-file={layout.authority.certificate}",
        f"--cluster-signing-cert-file={layout.authority.certificate}",
        f"--cluster-signing-key-file={layout.authority.key}",
    ]


def scheduler(layout: Layout) -> list[str]:
    """The default profile."""
    return _controller(layout, "system:kube-scheduler")


def _controller(layout: Layout, user: str) -> list[str]:
    return [
        f"--kubeconfig={layout.kubeconfig(user)}",
        # There is one of each, so an election would only cost time.
        "--leader-elect=false",
        # Nobody asks these for their health or metrics.
        "--secure-port=0",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    ]


def kwok(layout: Layout) -> list[str]:
    """Plays the kubelet of every node; without a config file it would do nothing at all."""
    return [
        f"--kubeconfig={layout.kubeconfig('kwok', (MASTERS,))}",
        f"--config={_STAGES}",
        "--manage-all-nodes",
        # Many more addresses than the default, which are given out beyond its end.
        "--cidr=10.128.0.0/9",
    ]
