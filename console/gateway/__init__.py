"""The API of Kubernetes through the console: `/api`, `/apis`, `/version` and `/openapi`.

`console.gateway.application` runs before Django and never answers with a page. Each request passes
the filters of KubeSphere's ks-apiserver in the same order: request information
(`requestinfo`), authentication (`authentication`), cluster dispatch, authorization
(`impersonation`), limits (`limits`), audit (`recording`) and proxy (`forwarding`, `upgrading`).
kube-apiserver authorizes each request, because it is sent as the user.
"""
