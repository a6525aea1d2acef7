"""Kubeconfigs of people, with a client certificate each.

Somebody asks for one on the page of the own account, which notes that on the User
(`accounts.myaccount.kubeconfig`). The controllers do the rest: a key and a CertificateSigningRequest
for it (`kubeconfig`), its approval and the certificate (`csr`), and both anew before the certificate
expires or when the user's groups are others. Keys are kept in Secrets of a namespace of their own
(`keeping`).
"""
