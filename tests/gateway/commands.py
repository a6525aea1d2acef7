"""kubectl commands whose output must be the same with and without the gateway."""

import re
import shlex
from dataclasses import dataclass, field

_MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}}}
data: {{color: {color}, size: large}}
"""


def config_map(name: str, color: str = "red") -> str:
    return _MAP.format(name=name, color=color)


@dataclass(frozen=True)
class Command:
    """A command line, and its input. `{node}` is the name of the node, `{home}` a folder. `after`
    restores what the command changed for both ways.
    """

    line: str
    input: str | None = field(default=None, repr=False)
    after: str = ""

    def arguments(self, **names: str) -> list[str]:
        return shlex.split(self.line.format(**names))

    def restoring(self, **names: str) -> list[str]:
        return shlex.split(self.after.format(**names))


#: In the order in which they run.
COMMANDS = [
    Command("get pods -o wide"),
    Command("get deployments,configmaps --show-labels"),
    Command("get configmap settings -o yaml"),
    Command("get configmap settings -o jsonpath={{.data.color}}"),
    Command("get pods -A --field-selector metadata.namespace=default"),
    Command("get pod absent"),
    Command("get absents"),
    Command("get configmaps -w --output-watch-events --request-timeout=2s"),
    Command("get events --field-selector=involvedObject.kind=Nothing"),
    Command("describe pod shell"),
    Command("describe deployment web"),
    Command("describe configmap settings"),
    Command("apply -f -", config_map("applied")),
    Command("apply -f -", config_map("applied", "green")),
    Command("apply --server-side -f -", config_map("served")),
    Command("apply --server-side --field-manager=other -f -", config_map("served", "pink")),
    Command("apply --server-side --dry-run=server -f -", config_map("served")),
    Command("diff -f -", config_map("applied", "blue")),
    Command("diff --server-side -f -", config_map("served")),
    Command("replace -f -", config_map("applied", "white")),
    Command("create -f -", config_map("applied")),
    Command("create configmap made --from-literal=a=b"),
    Command("label configmap settings tier=front"),
    Command("label configmap settings tier=back"),
    Command("label configmap settings tier-"),
    Command("annotate configmap settings note=1"),
    Command('patch configmap settings --type=merge -p \'{{"data":{{"color":"grey"}}}}\''),
    Command('patch configmap settings --type=json -p \'[{{"op":"remove","path":"/data/x"}}]\''),
    Command('patch deployment web -p \'{{"spec":{{"revisionHistoryLimit":3}}}}\''),
    Command("scale deployment web --replicas=2"),
    Command("scale deployment web --replicas=1 --current-replicas=7"),
    Command("rollout status deployment web --timeout=50s"),
    Command("rollout history deployment web"),
    Command("rollout pause deployment web"),
    Command("rollout resume deployment web"),
    Command("rollout restart deployment web --dry-run=server"),
    Command("wait --for=condition=Available deployment/web --timeout=50s"),
    Command("wait --for=delete pod/shell --timeout=1s"),
    Command("set env deployment/web A=b --dry-run=server"),
    Command("autoscale deployment web --max=3"),
    Command("expose deployment web --port=80 --name=exposed"),
    Command("logs shell --limit-bytes=1"),
    Command("logs absent"),
    Command("logs shell -c absent"),
    Command("exec shell -- sh -c 'echo out; echo err >&2; exit 3'"),
    Command("exec -i shell -- cat", "from standard input\n"),
    Command("exec shell -c absent -- true"),
    Command("exec absent -- true"),
    Command("exec shell -- absent-program"),
    Command("cp {home}/sent shell:/tmp/sent"),
    Command("cp shell:/tmp/sent {home}/received-{namespace}"),
    Command("attach absent"),
    Command("port-forward pod/absent :80"),
    Command("cordon {node}", after="uncordon {node}"),
    Command("drain {node} --dry-run=server --ignore-daemonsets --force --pod-selector=app=none"),
    Command("taint node {node} a=b:NoSchedule --dry-run=server"),
    Command("top pods"),
    Command("auth can-i --list"),
    Command("auth can-i delete nodes"),
    Command("auth can-i create pods --subresource=exec"),
    Command("auth whoami"),
    Command("auth whoami --as tess"),
    Command("auth whoami --as somebody --as-group team --as-group system:authenticated"),
    Command("auth whoami --as system:serviceaccount:default:default"),
    Command("get configmaps --as system:serviceaccount:default:default"),
    Command("auth can-i list pods --as nobody"),
    Command("api-resources --no-headers"),
    Command("api-versions"),
    Command("explain deployment.spec.strategy"),
    Command("explain pod.spec --recursive"),
    Command("create token default --duration=10m"),
    Command("create serviceaccount robot"),
    Command("create role reads --verb=get --resource=pods"),
    Command("create role escalates --verb=* --resource=nodes"),
    Command("create deployment other --image=example/other:1"),
    Command("get --raw /version"),
    Command("get --raw /healthz"),
    Command("get --raw /api"),
    Command("get --raw /apis/apps/v1"),
    Command("get --raw /openapi/v3"),
    Command("get --raw /api/v1/namespaces/{namespace}/configmaps/settings"),
    Command("get --raw /absent"),
    Command("version -o json"),
    Command("delete configmap made applied served"),
    Command("delete configmap absent"),
    Command("delete deployment/other service/exposed role/reads serviceaccount/robot hpa/web"),
    Command("delete pod shell --grace-period=0 --force"),
]
_REPLACED = [
    (re.compile(one), by)
    for one, by in (
        (r"eyJ[\w-]+\.[\w-]+\.[\w-]+", "TOKEN"),
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
        (r"\w{3}, \d\d \w{3} \d{4} [\d:]+ \+0000", "TIME"),
        (r"""(["']?resourceVersion["']?: ?)"\d+\"""", r"\1VERSION"),
        (r"\b10\.\d+\.\d+\.\d+\b", "ADDRESS"),
        (r"https://127\.0\.0\.1:\d+(/clusters/host)?", "SERVER"),
        (r"-[a-z0-9]{8,10}-[a-z0-9]{5}\b", "-POD"),
        (r"\bweb-[a-z0-9]{8,10}\b", "web-SET"),
        (r"\b(containerd|docker)://\w+", "CONTAINER"),
        (r"/\S*(LIVE|MERGED)-\d+", "FILE"),
        (r"exec \"?[0-9a-f]{64}\"?", "exec ID"),
        (r"\b(\d+[dhms])+( ago)?\b", "AGE"),
        (r"kube-api-access-\w{5}", "kube-api-access-X"),
        (r"\d{4}-\d\d-\d\d [\d:.]+ [+-]\d{4}", "TIME"),
        (r"(?m)^[\w-]{43}$", "TOKEN"),
        (r"\b\d+Mi\b", "SIZE"),
        # Names the certificate, which only kube-apiserver itself knows.
        (r"(?m)^Extra: authentication.kubernetes.io/credential-id .*\n", ""),
        # The words depend on the verb with which kube-apiserver checks it.
        (r"\(Forbidden\): .* cannot impersonate.*", "(Forbidden): impersonation"),
        # The number of repeated events, and progress that one of two runs may miss.
        (r"\(x\d+ over", "(repeated over"),
        (r"(?m)^Waiting for deployment .*\n", ""),
        # The kubelet retries a mount that begins before it has read the ConfigMap.
        (r"(?m)^ *Warning +FailedMount .*\n?", ""),
        # Messages of client-go that depend on the time.
        (r"(?m)^[EWI]\d{4} .*\n", ""),
        (r"[ \t]+", " "),
        (r"-{3,}", "---"),
    )
]


def normalized(text: str, namespace: str) -> list[str]:
    """Return the lines of an output without values that differ between two runs."""
    text = text.replace(namespace, "NAMESPACE")
    for pattern, by in _REPLACED:
        text = pattern.sub(by, text)
    text, _events, events = text.partition("\nEvents:\n")
    # kubectl does not sort events of the same second.
    return [line.strip() for line in (*text.splitlines(), *sorted(events.splitlines()))]
