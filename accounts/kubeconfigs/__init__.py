"""Kubeconfigs of users, each with a client certificate.

A request on the account page is stored as an annotation of the User
(`accounts.myaccount.kubeconfig`). Controllers then create a key and a CertificateSigningRequest
(`kubeconfig`), approve it and store the certificate (`csr`). Both are renewed before the
certificate expires and when the user's groups change. Keys are stored in Secrets in a separate
namespace (`keeping`).
"""
