"""An embedded cluster: one process that answers as kube-apiserver does, with simulated workloads.

It is for demonstrations and tests. The API is real where it exists (storage, watches, RBAC, custom
resources, server-side apply); what lies behind it (nodes, containers) is simulated.
"""
