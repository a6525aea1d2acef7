"""The Python packages of the console."""

PACKAGES = ("console", "access", "accounts", "rbac", "workspaces")
