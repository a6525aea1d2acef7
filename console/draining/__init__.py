"""Draining nodes: evicts all pods that can run elsewhere, like `kubectl drain`.

https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
"""
