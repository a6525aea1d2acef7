"""Custom resources of the sample data: certificates (one expires soon) and backups."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from devcluster.objects import Obj, timestamp

_TEXT: Obj = {"type": "string"}
_FREE: Obj = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_CONDITIONS: Obj = {"type": "array", "items": _FREE}
_READY = '.status.conditions[?(@.type=="Ready")]'
_AGE = ("Age", "date", ".metadata.creationTimestamp", 0)


def definitions() -> Iterator[Obj]:
    yield definition(
        "cert-manager.io",
        "Certificate",
        ("cert", "certs"),
        ("Ready", "string", f"{_READY}.status", 0),
        ("Secret", "string", ".spec.secretName", 0),
        ("Expires", "date", ".status.notAfter", 0),
        ("Issuer", "string", ".spec.issuerRef.name", 1),
        ("Status", "string", f"{_READY}.message", 1),
    )
    yield definition(
        "cert-manager.io",
        "ClusterIssuer",
        (),
        ("Ready", "string", f"{_READY}.status", 0),
        ("Status", "string", f"{_READY}.message", 1),
        namespaced=False,
    )
    yield definition(
        "backup.shop.example",
        "Backup",
        ("bk",),
        ("Of", "string", ".spec.statefulSet", 0),
        ("Size", "string", ".status.size", 0),
        ("Volumes", "integer", ".status.volumes", 0),
        ("Encrypted", "boolean", ".spec.encrypted", 1),
        ("Finished", "date", ".status.finished", 0),
    )


def definition(
    group: str,
    kind: str,
    short: tuple[str, ...],
    *columns: tuple[str, str, str, int],
    namespaced: bool = True,
    plural: str = "",
    version: str = "v1",
) -> Obj:
    """Return a custom resource definition with one version and a schema without restrictions.

    An age column is appended to `columns`.
    """
    plural = plural or f"{kind.lower()}s"
    status = {**_FREE, "properties": {"conditions": _CONDITIONS}}
    schema = {**_FREE, "properties": {"spec": _FREE, "status": status}}
    served = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            {"name": name, "type": type_, "jsonPath": path, "priority": priority}
            for name, type_, path, priority in (*columns, _AGE)
        ],
    }
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    return {
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced" if namespaced else "Cluster",
            "names": {**names, "shortNames": list(short)},
            "versions": [served],
        },
    }


def reader_role() -> Obj:
    """Return a cluster role that allows the console's cache to watch the custom resources."""
    groups = ["cert-manager.io", "backup.shop.example"]
    return {
        "metadata": {
            "name": "sample-custom-resources",
            "labels": {"quarterdeck.io/aggregate-to-reader": "true"},
        },
        "rules": [{"apiGroups": groups, "resources": ["*"], "verbs": ["list", "watch"]}],
    }


def resources() -> Iterator[tuple[str, Obj]]:
    """Yield the collection and object of each custom resource, including its status."""
    message = "The ACME account was registered with the ACME server"
    status = {"conditions": [condition("Ready", "True", "ACMEAccountRegistered", message)]}
    spec = {"acme": {"server": "https://acme.shop.example/directory"}}
    issuer = {"metadata": {"name": "public"}, "spec": spec, "status": status}
    yield "clusterissuers.cert-manager.io", issuer
    for namespace, name, days, failure in (
        ("web", "storefront-tls", 71, ""),
        ("checkout", "checkout-api-tls", 64, ""),
        ("payments", "payments-api-tls", 5, "order failed: 429 rateLimited: too many certificates"),
        (
            "shipping",
            "tracking-tls",
            -1,
            "order failed: DNS problem: NXDOMAIN for track.shop.example",
        ),
    ):
        yield "certificates.cert-manager.io", _certificate(namespace, name, days, failure)
        # Placeholder data, not a real key.
        data = {"tls.crt": "c2FtcGxl", "tls.key": "c2FtcGxl"}
        about = {"name": name, "namespace": namespace}
        yield "secrets", {"metadata": about, "type": "kubernetes.io/tls", "data": data}
    for namespace, name, hours, size, failure in (
        ("payments", "payments-db", 3, "81Gi", ""),
        ("checkout", "session-cache", 3, "6Gi", ""),
        ("data", "clickhouse", 27, "", "volume data-clickhouse-1: snapshot timed out after 1h"),
    ):
        yield "backups.backup.shop.example", _backup(namespace, name, hours, size, failure)


def _certificate(namespace: str, name: str, days: int, failure: str) -> Obj:
    now = datetime.now(UTC)
    end = now + timedelta(days=days)
    ready = condition("Ready", "True", "Ready", "Certificate is up to date and has not expired")
    if days < 0:
        ready = condition("Ready", "False", "Expired", f"Certificate expired on {timestamp(end)}")
    conditions = [ready]
    if failure and days >= 0:
        conditions.append(condition("Degraded", "True", "RenewalFailed", failure))
    spec = {
        "secretName": name,
        "dnsNames": [f"{name.removesuffix('-tls')}.shop.example"],
        "issuerRef": {"kind": "ClusterIssuer", "name": "public"},
    }
    status = {
        "conditions": conditions,
        "notBefore": timestamp(end - timedelta(days=90)),
        "notAfter": timestamp(end),
        "renewalTime": timestamp(end - timedelta(days=30)),
    }
    about = {"name": name, "namespace": namespace}
    return {"metadata": about, "spec": spec, "status": status}


def _backup(namespace: str, name: str, hours: int, size: str, failure: str) -> Obj:
    ended = timestamp(datetime.now(UTC) - timedelta(hours=hours))
    done = (
        condition("Failed", "True", "SnapshotFailed", failure)
        if failure
        else condition("Complete", "True", "Uploaded", "")
    )
    status = {"conditions": [done], "volumes": 3}
    status |= {} if failure else {"size": size, "finished": ended}
    spec = {"statefulSet": name, "encrypted": True, "bucket": f"s3://backups/{namespace}"}
    about = {"name": f"{name}-nightly", "namespace": namespace}
    return {"metadata": about, "spec": spec, "status": status}


def condition(kind: str, status: str, reason: str, message: str) -> Obj:
    found = {"type": kind, "status": status, "reason": reason, "message": message}
    return {**found, "lastTransitionTime": timestamp()}
