"""Long answers of kube-apiserver, handed on to their viewer as they come."""
