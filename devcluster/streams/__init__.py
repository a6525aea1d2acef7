"""Exec, attach and port-forward: what kube-apiserver and a kubelet answer to them, over websockets."""
