"""Pages for roles of all levels, their holders, and the permissions of users.

The rules are evaluated in `rbac`. Native roles are written with the user's identity, so that
kube-apiserver checks for privilege escalation. Platform and workspace roles, which
kube-apiserver cannot check, are written with the user's identity if RBAC allows the write, and
otherwise with the console's identity after a check by `rbac.levels`.
"""
