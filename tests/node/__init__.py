"""A real node for tests: a kubelet with containerd, isolated in namespaces next to a control plane."""
