"""Draining nodes: all pods that can run elsewhere are evicted, as `kubectl drain` does it.

https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
"""
