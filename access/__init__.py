"""Pages about rights: roles of all levels, who holds them, and what somebody may do and why.

The rules are `rbac`'s. Native roles are written as the user, so that kube-apiserver compares rights.
Those of the platform and of workspaces, which it cannot compare, are written as the user where Kubernetes
lets them, and else as the console after `rbac.levels` has allowed it.
"""
