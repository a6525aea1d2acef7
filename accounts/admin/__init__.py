"""Administration of other users' accounts: create, change, disable and sign-in settings.

Permissions are checked before anything is looked up. Writes use the administrator's identity, so
kube-apiserver checks them again.
"""
