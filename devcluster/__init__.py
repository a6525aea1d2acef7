"""An embedded Kubernetes API server with simulated workloads, for demonstrations and tests.

The server runs in one process. The implemented part of the API (storage, watches, RBAC, custom
resources, server-side apply) behaves like kube-apiserver. Nodes and containers are simulated.
"""
