"""The modules that declare routes. Importing this module declares all of them."""

from console.gateway.kapis import (
    clusters,
    configuration,
    departments,
    iam,
    members,
    old_resources,
    openapi,
    operations,
    resources,
    roles,
    tenant,
)
from console.gateway.kapis.routes import routes

#: A module that is not listed here declares no routes.
MODULES = (
    clusters,
    configuration,
    departments,
    iam,
    members,
    old_resources,
    openapi,
    operations,
    resources,
    roles,
    tenant,
)

__all__ = ["MODULES", "routes"]
