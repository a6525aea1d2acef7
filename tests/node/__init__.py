"""A real node for tests: the kubelet with containerd, in a box of its own beside a control plane."""
