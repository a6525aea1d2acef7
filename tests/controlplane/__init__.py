"""A real Kubernetes control plane for tests. It is built once, starts in seconds and can simulate
faults.
"""
