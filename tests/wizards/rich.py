"""Manifests that use most fields of a kind."""

from typing import Any

CONTAINER: dict[str, Any] = {
    "name": "api",
    "image": "registry.example.com/shop/api:2.18.4",
    "imagePullPolicy": "IfNotPresent",
    "command": ["/app/server"],
    "args": ["--port", "8080", "--name", "a b"],
    "workingDir": "/app",
    "ports": [
        {"name": "http", "containerPort": 8080},
        {"name": "dns", "containerPort": 53, "protocol": "UDP", "hostPort": 53},
    ],
    "env": [
        {"name": "MODE", "value": "fast"},
        {"name": "EMPTY"},
        {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
        {
            "name": "TTL",
            "valueFrom": {"configMapKeyRef": {"name": "cart", "key": "ttl", "optional": True}},
        },
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "MEMORY", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory"}}},
    ],
    "envFrom": [
        {"prefix": "A_", "configMapRef": {"name": "cart", "optional": True}},
        {"secretRef": {"name": "db"}},
    ],
    "resources": {
        "requests": {
            "cpu": "100m",
            "memory": "256Mi",
            "ephemeral-storage": "1Gi",
            "nvidia.com/gpu": "1",
        },
        "limits": {"cpu": 2, "memory": "512Mi", "nvidia.com/gpu": "1"},
    },
    "readinessProbe": {
        "httpGet": {
            "path": "/ready",
            "port": "http",
            "scheme": "HTTP",
            "httpHeaders": [{"name": "X-A", "value": "b"}],
        },
        "periodSeconds": 5,
        "failureThreshold": 2,
    },
    "livenessProbe": {"tcpSocket": {"port": 8080}, "initialDelaySeconds": 10},
    "startupProbe": {"exec": {"command": ["cat", "/run/started"]}},
    "lifecycle": {
        "postStart": {"httpGet": {"path": "/warm", "port": 8080}},
        "preStop": {"sleep": {"seconds": 5}},
    },
    "securityContext": {
        "runAsUser": 1000,
        "runAsNonRoot": True,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
        "seLinuxOptions": {"level": "s0:c1"},
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "volumeMounts": [
        {"name": "data", "mountPath": "/data", "subPath": "a"},
        {"name": "host-time", "mountPath": "/etc/localtime", "readOnly": True},
        {"name": "config", "mountPath": "/etc/app", "readOnly": True, "mountPropagation": "None"},
    ],
    "volumeDevices": [{"name": "block", "devicePath": "/dev/xvda"}],
}

POD_SPEC: dict[str, Any] = {
    "serviceAccountName": "api",
    "terminationGracePeriodSeconds": 60,
    "priorityClassName": "high",
    "imagePullSecrets": [{"name": "registry"}],
    "nodeSelector": {"disktype": "ssd"},
    "tolerations": [
        {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
        {"operator": "Exists"},
        {"key": "x", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60},
    ],
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "api"}},
        }
    ],
    "affinity": {
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 100,
                    "podAffinityTerm": {
                        "topologyKey": "kubernetes.io/hostname",
                        "labelSelector": {"matchLabels": {"app": "api"}},
                    },
                }
            ]
        }
    },
    "securityContext": {
        "fsGroup": 2000,
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
        "seLinuxOptions": {"level": "s0:c1", "user": "system_u"},
        "supplementalGroups": [3000],
    },
    "hostNetwork": True,
    "dnsPolicy": "ClusterFirstWithHostNet",
    "initContainers": [
        {"name": "migrate", "image": "migrate:1", "command": ["sh", "-c", "sleep 1"]},
        {"name": "proxy", "image": "proxy:2", "restartPolicy": "Always"},
    ],
    "containers": [CONTAINER, {"name": "log-shipper", "image": "fluent-bit:latest"}],
    "volumes": [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "fast", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
        {"name": "config", "configMap": {"name": "cart", "items": [{"key": "a", "path": "b"}]}},
        {"name": "secret", "secret": {"secretName": "db", "defaultMode": 256}},
        {"name": "logs", "hostPath": {"path": "/var/log", "type": "Directory"}},
        {"name": "all", "projected": {"sources": [{"configMap": {"name": "cart"}}]}},
        {"name": "nfs", "nfs": {"server": "10.0.0.9", "path": "/x", "readOnly": True}},
        {"name": "ceph", "cephfs": {"monitors": ["10.0.0.8"]}},
        {"name": "host-time", "hostPath": {"path": "/etc/localtime", "type": ""}},
    ],
}


def workload(api_version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": "api",
            "namespace": "shop",
            "labels": {"app": "api", "team": "checkout"},
            "annotations": {
                "kubesphere.io/alias-name": "API",
                "kubesphere.io/description": "All of it",
                "example.com/notes": "two\nlines",
            },
        },
        "spec": spec,
    }


def template(pod: dict[str, Any]) -> dict[str, Any]:
    annotations = {
        "prometheus.io/scrape": "true",
        "cni.projectcalico.org/ipv4pools": '["web","default-pool"]',
        "logging.kubesphere.io/logsidecar-config": (
            '{"containerLogConfigs":{"api":{"logs":["/var/log/*.log"]}}}'
        ),
    }
    metadata = {"labels": {"app": "api"}, "annotations": annotations}
    return {"metadata": metadata, "spec": pod}


DEPLOYMENT = workload(
    "apps/v1",
    "Deployment",
    {
        "replicas": 3,
        "minReadySeconds": 5,
        "revisionHistoryLimit": 3,
        "progressDeadlineSeconds": 120,
        "selector": {"matchLabels": {"app": "api"}},
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "0%"},
        },
        "template": template(POD_SPEC),
    },
)

CONFIG_MAP: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "cart", "namespace": "shop", "annotations": {"a": "b"}},
    "data": {"ttl": "60", "app.conf": "a = 1\nb = 2\n", "empty": "", "nginx.conf": "\tx\n\n"},
    "binaryData": {"logo.png": "iVBORw0KGgo="},
    "immutable": True,
}

SERVICE_ACCOUNT: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "api", "namespace": "shop", "labels": {"app": "api"}},
    "imagePullSecrets": [{"name": "registry"}, {"name": "mirror"}],
    "secrets": [{"name": "api-token"}],
    "automountServiceAccountToken": False,
}

PERSISTENT_VOLUME_CLAIM: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "shop"},
    "spec": {
        "storageClassName": "fast",
        "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
        "volumeMode": "Filesystem",
        "resources": {"requests": {"storage": "20Gi"}, "limits": {"storage": "40Gi"}},
        "dataSource": {
            "apiGroup": "snapshot.storage.k8s.io",
            "kind": "VolumeSnapshot",
            "name": "monday",
        },
        "selector": {"matchLabels": {"tier": "fast"}},
        "volumeName": "pv-1",
    },
}

SERVICE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {
        "name": "api",
        "namespace": "shop",
        "annotations": {"service.beta.kubernetes.io/aws-load-balancer-type": "external"},
    },
    "spec": {
        "type": "LoadBalancer",
        "clusterIP": "10.0.0.7",
        "clusterIPs": ["10.0.0.7"],
        "selector": {"app": "api", "tier": "web"},
        "ports": [
            {"name": "http", "port": 80, "targetPort": "http", "nodePort": 30080},
            {"name": "dns", "port": 53, "protocol": "UDP", "appProtocol": "dns"},
        ],
        "loadBalancerClass": "example.com/lb",
        "loadBalancerSourceRanges": ["10.0.0.0/8"],
        "externalTrafficPolicy": "Local",
        "sessionAffinity": "ClientIP",
        "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 60}},
        "ipFamilyPolicy": "SingleStack",
    },
}
EXTERNAL_NAME: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "db", "namespace": "shop"},
    "spec": {"type": "ExternalName", "externalName": "db.example.com", "sessionAffinity": "None"},
}
HEADLESS: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "db", "namespace": "shop"},
    "spec": {"clusterIP": "None", "selector": {"app": "db"}, "ports": [{"port": 5432}]},
}

HORIZONTAL_POD_AUTOSCALER: dict[str, Any] = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "api", "namespace": "shop"},
    "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"},
        "minReplicas": 2,
        "maxReplicas": 9,
        "metrics": [
            {
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "target": {"type": "Utilization", "averageUtilization": 80},
                },
            },
            {
                "type": "Resource",
                "resource": {
                    "name": "memory",
                    "target": {"type": "AverageValue", "averageValue": "500Mi"},
                },
            },
            {
                "type": "Pods",
                "pods": {
                    "metric": {"name": "requests"},
                    "target": {"type": "AverageValue", "averageValue": "100"},
                },
            },
        ],
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
    },
}

POD_DISRUPTION_BUDGET: dict[str, Any] = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "api", "namespace": "shop"},
    "spec": {
        "minAvailable": "50%",
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
        "selector": {
            "matchLabels": {"app": "api"},
            "matchExpressions": [{"key": "x", "operator": "Exists"}],
        },
    },
}

RESOURCE_QUOTA: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "quota", "namespace": "shop"},
    "spec": {
        "hard": {
            "requests.cpu": "10",
            "limits.cpu": 20,
            "requests.memory": "64Gi",
            "pods": "50",
            "requests.nvidia.com/gpu": "2",
            "count/jobs.batch": "9",
        },
        "scopes": ["NotTerminating"],
    },
}

LIMIT_RANGE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "limits", "namespace": "shop"},
    "spec": {
        "limits": [
            {
                "type": "Container",
                "default": {"cpu": "500m", "memory": "512Mi"},
                "defaultRequest": {"cpu": "100m", "memory": "256Mi"},
                "min": {"cpu": "10m", "memory": "64Mi"},
                "max": {"cpu": 2, "memory": "2Gi", "nvidia.com/gpu": "1"},
                "maxLimitRequestRatio": {"cpu": "10"},
            },
            {"type": "Pod", "max": {"cpu": "4"}},
            {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}},
        ]
    },
}

PRIORITY_CLASS: dict[str, Any] = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high", "labels": {"a": "b"}},
    "value": 100000,
    "globalDefault": False,
    "preemptionPolicy": "Never",
    "description": "For the shop.",
}

INGRESS: dict[str, Any] = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "Ingress",
    "metadata": {"name": "shop", "namespace": "shop", "annotations": {"a": "b"}},
    "spec": {
        "ingressClassName": "nginx",
        "rules": [
            {
                "host": "shop.example.com",
                "http": {
                    "paths": [
                        {
                            "path": "/",
                            "pathType": "Prefix",
                            "backend": {"service": {"name": "web", "port": {"number": 80}}},
                        },
                        {
                            "path": "/api",
                            "pathType": "Exact",
                            "backend": {"service": {"name": "api", "port": {"name": "http"}}},
                        },
                        {
                            "path": "/files",
                            "pathType": "ImplementationSpecific",
                            "backend": {"resource": {"kind": "Bucket", "name": "files"}},
                        },
                    ]
                },
            },
            {"host": "*.example.com"},
        ],
        "tls": [{"hosts": ["shop.example.com", "*.example.com"], "secretName": "shop-tls"}],
        "defaultBackend": {"service": {"name": "web", "port": {"number": 80}}},
    },
}

HTTP_ROUTE: dict[str, Any] = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "HTTPRoute",
    "metadata": {"name": "shop", "namespace": "shop"},
    "spec": {
        "hostnames": ["shop.example.com"],
        "parentRefs": [{"name": "public", "namespace": "infra", "sectionName": "https"}],
        "rules": [
            {
                "matches": [
                    {"path": {"type": "PathPrefix", "value": "/"}},
                    {
                        "path": {"type": "Exact", "value": "/x"},
                        "method": "POST",
                        "headers": [
                            {"name": "a"},
                            {"name": "x-version", "value": "2", "type": "Exact"},
                            {"name": "x-user", "value": "a.*", "type": "RegularExpression"},
                        ],
                        "queryParams": [{"name": "debug", "value": "1"}],
                    },
                ],
                "filters": [
                    {
                        "type": "URLRewrite",
                        "urlRewrite": {
                            "hostname": "web.example.com",
                            "path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"},
                        },
                    },
                    {
                        "type": "RequestHeaderModifier",
                        "requestHeaderModifier": {"set": [{"name": "a", "value": "b"}]},
                    },
                ],
                "backendRefs": [
                    {"name": "web", "port": 80, "weight": 9},
                    {"name": "canary", "port": 80, "weight": 1},
                ],
                "timeouts": {"request": "5s"},
            },
            {
                "filters": [
                    {
                        "type": "RequestRedirect",
                        "requestRedirect": {
                            "scheme": "https",
                            "hostname": "www.example.com",
                            "port": 8443,
                            "statusCode": 301,
                            "path": {"type": "ReplaceFullPath", "replaceFullPath": "/new"},
                        },
                    }
                ]
            },
        ],
    },
}

NETWORK_POLICY: dict[str, Any] = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "api", "namespace": "shop", "labels": {"app": "api"}},
    "spec": {
        "podSelector": {"matchLabels": {"app": "api", "tier": "web"}},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [
            {
                "from": [
                    {"podSelector": {"matchLabels": {"app": "web"}}},
                    {"podSelector": {}},
                    {
                        "podSelector": {
                            "matchLabels": {"app": "x"},
                            "matchExpressions": [
                                {"key": "tier", "operator": "In", "values": ["a", "b"]},
                                {"key": "canary", "operator": "DoesNotExist"},
                                {"key": "zone", "operator": "NotIn", "values": ["z"]},
                                {"key": "ready", "operator": "Exists"},
                                {"key": "late", "operator": "In", "values": ["b", "a"]},
                            ],
                        },
                        "namespaceSelector": {},
                    },
                    {
                        "namespaceSelector": {
                            "matchLabels": {"kubernetes.io/metadata.name": "monitoring"}
                        },
                    },
                    {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16", "10.2.0.0/16"]}},
                ],
                "ports": [
                    {"port": 8080},
                    {"protocol": "UDP", "port": 3000, "endPort": 4000},
                    {"protocol": "TCP", "port": "http"},
                    {"protocol": "SCTP"},
                ],
            },
            {},
        ],
        "egress": [{"to": [{"ipBlock": {"cidr": "::/0"}}], "ports": [{"port": 443}]}],
    },
}

STORAGE_CLASS: dict[str, Any] = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {
        "name": "fast",
        "annotations": {
            "storageclass.kubernetes.io/is-default-class": "true",
            "storageclass.kubesphere.io/supported-access-modes": '["ReadWriteOnce"]',
        },
    },
    "provisioner": "ebs.csi.aws.com",
    "parameters": {"type": "gp3", "encrypted": "true"},
    "reclaimPolicy": "Retain",
    "volumeBindingMode": "Immediate",
    "allowVolumeExpansion": True,
    "mountOptions": ["noatime"],
    "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}],
}

VOLUME_SNAPSHOT: dict[str, Any] = {
    "apiVersion": "snapshot.storage.k8s.io/v1",
    "kind": "VolumeSnapshot",
    "metadata": {"name": "monday", "namespace": "shop"},
    "spec": {
        "volumeSnapshotClassName": "fast",
        "source": {"persistentVolumeClaimName": "data"},
    },
}

VOLUME_SNAPSHOT_CLASS: dict[str, Any] = {
    "apiVersion": "snapshot.storage.k8s.io/v1",
    "kind": "VolumeSnapshotClass",
    "metadata": {
        "name": "fast",
        "annotations": {"snapshot.storage.kubernetes.io/is-default-class": "true"},
    },
    "driver": "ebs.csi.aws.com",
    "deletionPolicy": "Delete",
    "parameters": {"tier": "cold"},
}


def secret(type: str, data: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "keys", "namespace": "shop"},
        "type": type,
        "stringData": data,
    }


OPAQUE = secret("Opaque", {"token": "abc", "empty": "", "lines": "a\nb\n"}) | {
    "data": {"old": "YQ=="},
    "immutable": True,
}
REGISTRY = secret(
    "kubernetes.io/dockerconfigjson",
    {
        ".dockerconfigjson": '{"auths": {"registry.example.com": {"username": "bot",'
        ' "password": "s3", "auth": "Ym90OnMz"}}, "credsStore": "x"}'
    },
)
BASIC_AUTH = secret("kubernetes.io/basic-auth", {"username": "bot", "password": "s3"})
SSH_KEY = secret("kubernetes.io/ssh-auth", {"ssh-privatekey": "-----BEGIN\nx\n"})

CUSTOM_AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]
        }
    },
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "topologyKey": "topology.kubernetes.io/zone",
                "labelSelector": {"matchLabels": {"app": "cache"}},
                "namespaces": ["shop"],
            }
        ]
    },
    "podAntiAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 20,
                "podAffinityTerm": {
                    "topologyKey": "kubernetes.io/hostname",
                    "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
                },
            }
        ]
    },
}

STATEFUL_SET = workload(
    "apps/v1",
    "StatefulSet",
    {
        "replicas": 3,
        "serviceName": "api",
        "minReadySeconds": 5,
        "revisionHistoryLimit": 3,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {"app": "api"}},
        "updateStrategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"partition": 1, "maxUnavailable": 2},
        },
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"},
        "template": template({**POD_SPEC, "affinity": CUSTOM_AFFINITY}),
        "volumeClaimTemplates": [
            {
                "metadata": {"name": "store", "labels": {"app": "api"}},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "fast",
                    "volumeMode": "Filesystem",
                    "resources": {"requests": {"storage": "10Gi"}},
                },
            }
        ],
    },
)

DAEMON_SET = workload(
    "apps/v1",
    "DaemonSet",
    {
        "minReadySeconds": 5,
        "revisionHistoryLimit": 3,
        "selector": {"matchLabels": {"app": "api"}},
        "updateStrategy": {"type": "OnDelete"},
        "template": template(POD_SPEC),
    },
)

JOB_SPEC: dict[str, Any] = {
    "completions": 5,
    "parallelism": 2,
    "backoffLimit": 3,
    "activeDeadlineSeconds": 600,
    "ttlSecondsAfterFinished": 3600,
    "completionMode": "Indexed",
    "backoffLimitPerIndex": 1,
    "template": template({**POD_SPEC, "restartPolicy": "OnFailure"}),
}

JOB = workload("batch/v1", "Job", {**JOB_SPEC, "suspend": True})

CRON_JOB = workload(
    "batch/v1",
    "CronJob",
    {
        "schedule": "30 2 * * 1-5",
        "timeZone": "Europe/Berlin",
        "suspend": True,
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 60,
        "successfulJobsHistoryLimit": 5,
        "failedJobsHistoryLimit": 2,
        "jobTemplate": {"metadata": {"labels": {"app": "api"}}, "spec": JOB_SPEC},
    },
)
