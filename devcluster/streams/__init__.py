"""Exec, attach and port-forward over websockets, as implemented by kube-apiserver and kubelets."""
