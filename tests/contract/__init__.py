"""Contract tests of the Kubernetes API. Each test runs unchanged on a real kube-apiserver and on
the embedded cluster. The real kube-apiserver defines the expected behavior.
"""
