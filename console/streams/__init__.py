"""Long-running kube-apiserver responses that are forwarded to their viewer."""
