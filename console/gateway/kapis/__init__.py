"""KubeSphere's API: `/kapis/{group}/{version}/…`, also `/kapis/clusters/{cluster}/…`.

The package answers from the same declarations as the pages: the kinds, the shared cache, the
permissions and the services of workspaces, roles and accounts. Each module declares the routes of one
group with `console.gateway.kapis.routes.route`; `serving` finds the route of a request and converts
results and errors to responses. See `docs/api.md` and ADR 30.
"""
