"""Accounts of others: made, changed, locked out and let in by those who may.

Every right is decided before anything is looked up, and every write goes out as the administrator, so
that kube-apiserver decides a second time.
"""
